"""The template of a forked command's graders, and a prepare.py: forks too, that load no libraries.

Before a forked command reads anything, it forks a process that only waits. When the command starts
the program of the template, that process forks, and the fork becomes the template: a child of the
command, with the environment and the channel that the command gives, and nothing else of it. The
same holds for the program that runs a prepare.py.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import threading
from typing import Any, NoReturn

from tests.forkserver import preparation
from tests.forkserver.forking import reseed, serve_requests
from tests.forkserver.process import EXECUTE_CHILD, PIPES, reaping_orphans

PROGRAM = "app.graders.program.template_main"
# The modules that the template loads at its start, and those that graders load when they start.
LOADED = (PROGRAM, "app.graders.program.custom_grader", "app.graders.program.request_handler",
          "app.graders.program.tasks", "app.graders.program.job_process")  # fmt: skip
# Commands that start graders. Others would fork for nothing.
COMMANDS = {
    "serve", "worker", "grade", "check", "new", "prepare", "import", "regrade", "uncertainty",
}  # fmt: skip


def load() -> None:
    """Import what templates and graders load; importing it starts nothing."""
    for name in LOADED:
        importlib.import_module(name)
    preparation.load()


def prepare() -> None:
    """Fork the waiting process, and let subprocess.Popen ask it for templates."""
    channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        channel.close()
        wait_and_fork(theirs)
    theirs.close()
    lock = threading.Lock()  # several threads start processes
    execute_child = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def start(popen: Any, *given: Any) -> None:
        named = EXECUTE_CHILD.bind(popen, *given).arguments
        words, descriptors = list(named["args"]), list(named["pass_fds"])
        if preparation.PROGRAM in words:
            descriptors = [named["errwrite"], *descriptors]
        elif PROGRAM not in words:
            execute_child(popen, *given)
            return
        request = {"words": words, "environment": named["env"], "cwd": str(named["cwd"])}
        with lock, reaping_orphans():
            socket.send_fds(channel, [json.dumps(request).encode()], descriptors)
            popen.pid = int(channel.recv(64))
        popen._child_created = True
        popen._close_pipe_fds(*(named[name] for name in PIPES))

    subprocess.Popen._execute_child = start  # type: ignore[attr-defined]


def wait_and_fork(channel: socket.socket) -> NoReturn:
    """Fork a template for each request, until the command ends; never returns."""
    os.setsid()  # a signal to the command's group is not for its template
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    kept = os.dup2(channel.fileno(), 3) if channel.fileno() != 3 else 3
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    channel.detach()
    channel = socket.socket(fileno=kept)
    serve_requests(channel, become)
    os._exit(0)


def become(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Run the program of the template, or of a prepare.py; never returns."""
    if preparation.PROGRAM in request["words"]:
        preparation.become(request, descriptors)
    (descriptor,) = descriptors
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    reseed()
    try:
        importlib.import_module(PROGRAM).main(descriptor)
    finally:
        os._exit(0)
