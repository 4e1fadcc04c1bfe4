"""Be the first process of a container: reap orphaned processes, and forward signals.

When a grader is killed, the processes that it started end too, and become children of the first
process. If that process never waits for them, each occupies an entry in the table of processes,
until the container reaches its limit of processes and no grader can start.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NoReturn

FIRST = 1  # process of a machine or a container


def leave_first_process() -> None:
    """If this is the first process, continue in a child; the first process then only waits.

    Call it before threads are started. The first process ends as the child does, and with it the
    kernel ends all others.
    """
    if os.getpid() != FIRST:
        return
    # Blocked signals wait for `sigwait`. Others would not reach a first process without a handler.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    child = os.fork()
    if child:
        _wait_for_all(child)
    # A terminal signals the whole group: the child would get the signal twice, which ends it.
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait_for_all(child: int) -> NoReturn:
    """Wait for every process that ends, and pass on all signals, until the child ends."""
    while True:
        number = signal.sigwait(signal.valid_signals())
        if number != signal.SIGCHLD:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
            continue
        for pid, status in iter(_ended, None):
            if pid == child:
                os._exit(_exit_status(status))


def _ended() -> tuple[int, int] | None:
    """The id and status of a process that has ended; None if there is none."""
    try:
        found = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return found if found[0] else None


def _exit_status(status: int) -> int:
    """The exit status of a process, as a shell has it for one that a signal ended."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
