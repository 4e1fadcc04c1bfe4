"""A grader: a copy of the template that restricts itself, then does jobs.

The template has loaded the libraries, and a copy has only one thread. So all of a grader is
restricted before it reads a file of a competition.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import os
import select
import socket
import traceback
from pathlib import Path
from typing import Any

from app.graders.messages.framing import receive, send
from app.graders.walls import sandbox
from app.graders.walls.isolation import Isolation
from app.graders.walls.syscalls import give_back_memory

IDLE_MILLISECONDS = 500  # without a job, after which a grader frees memory
LONGEST_ERROR = 4000  # characters of the reason why a grader does not start


def serve(
    channel: socket.socket,
    *,
    role: str,
    memory_mb: int,
    cache_mb: int,
    requires_isolation: bool,
    shows_texts: bool,
    isolation: Isolation,
) -> None:
    """Become a grader of this role, and do jobs until the server closes the channel.

    `isolation` are the walls that the template found. With `requires_isolation`, jobs whose process
    cannot be isolated completely are refused. With `shows_texts`, faults of a metric.py have the
    exception's text.
    """
    set_process_name(f"podium-{role}")
    try:
        failed = sandbox.confine(os.getppid(), starts_processes=role == "custom")
        importlib.import_module("app.graders.program.tasks").warm_up()
        if shows_texts:
            importlib.import_module("app.grading.custom_metric").show_texts()
        failed += sandbox.limit_memory(memory_mb)
        # It may start a process, to which this limit applies too.
        handler = _handler(role, cache_mb, memory_mb, is_required=requires_isolation)
        gc.freeze()  # these objects stay; the garbage collector can skip them
    except BaseException:
        _send_ready(
            channel,
            {"start_error": ascii(traceback.format_exc()[-LONGEST_ERROR // 2 :])[:LONGEST_ERROR]},
        )
        raise
    _send_ready(channel, {"isolation": dataclasses.asdict(_with_own_walls(isolation, failed))})
    protocol = importlib.import_module("app.graders.messages.protocol")
    jobs = select.poll()
    jobs.register(channel, select.POLLIN)
    while True:
        try:
            if not jobs.poll(IDLE_MILLISECONDS):
                # Not after each grading: the next one would allocate the same memory again.
                give_back_memory()
            request = protocol.read(protocol.Request, receive(channel))
        except (EOFError, OSError):
            return
        send(channel, handler.handle(request))


def set_process_name(name: str) -> None:
    """Set the name that `ps` and `top` show for this process. Linux keeps 15 characters of it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _handler(role: str, cache_mb: int, memory_mb: int, *, is_required: bool) -> Any:
    if role == "custom":
        custom = importlib.import_module("app.graders.program.custom_grader")
        return custom.CustomGrader(cache_mb, custom.JobRules(memory_mb, is_required))
    handlers = importlib.import_module("app.graders.program.request_handler")
    make = handlers.ValidateHandler if role == "validate" else handlers.GradeHandler
    return make(cache_mb)


def _with_own_walls(isolation: Isolation, failed: list[sandbox.FailedStep]) -> Isolation:
    """The walls of a job, with those of the grader itself."""
    missing = {(step.wall, step.how) for step in failed}
    return dataclasses.replace(
        isolation,
        memory=isolation.memory and ("memory", "rlimit") not in missing,
        orphans=isolation.orphans and ("orphans", "prctl") not in missing,
        notes=tuple(dict.fromkeys((*isolation.notes, *map(str, failed)))),
    )


def _send_ready(channel: socket.socket, document: dict[str, Any]) -> None:
    send(channel, json.dumps(document).encode())
