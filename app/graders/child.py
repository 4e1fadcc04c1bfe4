"""A child of a grader: forked, without any file of its parent but the one it was given."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.graders import sandbox

ENDING_SECONDS = 1.0


@dataclass
class Child:
    """A process that this one started. It ends with this one at the latest."""

    pid: int
    status: int | None = None

    def end(self) -> str:
        """Kill it with all its threads; says how it ended, in words for a fault."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._reap(0)
        return self._ending()

    def ending(self) -> str:
        """How it ended, where it is about to; it is killed if it does not within a second."""
        deadline = time.monotonic() + ENDING_SECONDS
        while self.status is None and time.monotonic() < deadline:
            if not self._reap(os.WNOHANG):
                time.sleep(0.001)
        return self.end()

    def _reap(self, options: int) -> bool:
        pid, status = os.waitpid(self.pid, options)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(pid)

    def _ending(self) -> str:
        assert self.status is not None  # noqa: S101 (it was reaped just now)
        return f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"


def start_child(run: Callable[[], None], descriptors: Iterable[int]) -> Child:
    """Run a function in a new process that has these open files of this process and no others.

    The child ends when the function returns or raises. It is a copy of this process: what it
    changes, it changes for itself alone.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return Child(pid)
    try:
        free = 3  # the standard streams are those of the null device
        for kept in sorted(descriptors):
            os.closerange(free, kept)
            free = kept + 1
        os.closerange(free, os.sysconf("SC_OPEN_MAX"))
        sandbox.die_with(parent)
        run()
    except BaseException:  # there is nobody to tell: whoever waits sees the exit status
        os._exit(1)
    os._exit(0)
