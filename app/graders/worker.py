"""What runs in a grader process: `python -m app.graders.worker`, started by `process.py`.

Imports only the standard library and the sandbox at first: a grader is cut off before anything
that starts threads, or that a competition could steer, is loaded.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import socket
import sys
import threading
import traceback

from app.graders.kernel import give_back_memory
from app.graders.sandbox import confine, limit_memory
from app.graders.wire import receive, send

IDLE_MILLISECONDS = 500  # without a job, and a grader keeps no more memory than it must


def main(role: str, descriptor: int, server: int, memory_mb: int, cache_mb: int) -> None:
    """Become a grader of this role, and do the server's jobs until it hangs up."""
    channel = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    try:
        isolation = confine(server)
        # By name, and here: importing it loads numpy and pyarrow, which must come after `confine`.
        desk = importlib.import_module("app.graders.desk").Desk(role, cache_mb)
        desk.warm_up()
        gc.freeze()  # what is there now stays; the collector need not look at it again
        isolation = limit_memory(isolation, memory_mb)
    except BaseException:
        send(channel, traceback.format_exc())
        raise
    send(channel, isolation)
    threads = threading.active_count()
    jobs = select.poll()
    jobs.register(channel, select.POLLIN)
    while True:
        try:
            if not jobs.poll(IDLE_MILLISECONDS):
                # Not after each grading: the next one would pay for the same memory again.
                give_back_memory()
            request = receive(channel)
        except (EOFError, OSError):
            return
        reply = desk.handle(request, leftovers=lambda: threading.active_count() > threads)
        send(channel, reply)


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
