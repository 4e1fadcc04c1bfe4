"""The program of the template. `template.py` starts it as a module with `python -m`.

It loads what graders need, and then starts and ends graders: copies of itself, which restrict
themselves before they get a job. It ends when the server closes the channel.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from typing import Any

from app.graders.messages.framing import send
from app.graders.program.child import start_child
from app.graders.program.grader_main import serve, set_process_name
from app.graders.walls import self_test
from app.graders.walls.isolation import Isolation

LARGEST_REQUEST = 4096
LONGEST_ERROR = 4000  # characters of the reason why the template does not start
MODULES = ("tasks", "request_handler", "custom_grader")


def main(descriptor: int) -> None:
    """Load the libraries, and do the server's requests until it closes the channel."""
    channel = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    # systemd and Slurm end a service by a SIGTERM to all its processes. Graders ignore it, so that
    # their jobs are finished or returned: the server ends them, by SIGKILL.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    set_process_name("podium-template")
    try:
        for module in MODULES:
            importlib.import_module(f"app.graders.program.{module}")
        gc.collect()
        gc.freeze()  # garbage collections in a copy would write to these pages
    except BaseException:
        text = ascii(traceback.format_exc()[-LONGEST_ERROR // 2 :])[:LONGEST_ERROR]
        _answer(channel, {"error": text})
        raise
    _answer(channel, {"ready": True})
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, LARGEST_REQUEST, 1)
        if not request:
            return
        _answer(channel, _do(json.loads(request), descriptors))


def _do(request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
    if "end" in request:
        return {"status": _end(request["end"])}
    (descriptor,) = descriptors
    arguments = dict(request["start"])
    server = arguments.pop("server")

    def grade() -> None:
        os.setsid()
        serve(socket.socket(fileno=descriptor), **arguments, isolation=isolation)

    try:
        isolation = _isolation(server)
    except (OSError, ValueError) as error:  # one fork or file too many; the next start tries again
        os.close(descriptor)
        reason = f"the self-test of the walls: {type(error).__name__}: {error}"
        return {"error": reason, "errno": getattr(error, "errno", None)}
    try:
        return {"pid": start_child(grade, (descriptor,)).pid}
    except OSError as error:
        return {"error": f"fork: {error}", "errno": error.errno}
    finally:
        os.close(descriptor)


@functools.cache
def _isolation(server: int) -> Isolation:
    """The walls around a job on this machine. All graders are copies of this process."""
    return self_test.isolation(server)


def _end(pid: int) -> int:
    """Kill a grader, its job and all they started. It was not reaped, so its pid is its own."""
    # It has its own session, so its group consists of it and its children.
    for kill in (os.killpg, os.kill):  # the group exists once the copy has made its session
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _answer(channel: socket.socket, document: dict[str, Any]) -> None:
    send(channel, json.dumps(document).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
