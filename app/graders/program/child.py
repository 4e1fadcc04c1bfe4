"""Child processes of a grader: forked, with only the given open files of the parent."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from app.graders.walls import sandbox
from app.system_limits import is_used_up

ENDING_SECONDS = 1.0


class NotStarted(Exception):
    """The system has no more processes, open files or memory. This says nothing about a job."""


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Raise NotStarted if a process cannot be started at a limit of the system."""
    try:
        yield
    except OSError as error:
        if is_used_up(error):
            raise NotStarted(error.strerror or type(error).__name__) from None
        raise


@dataclass
class Child:
    """A process that this one started. It ends when this process ends.

    `reason` says why this process killed it, if a fault should say so.
    """

    pid: int
    status: int | None = None
    reason: str = ""

    def end(self) -> str:
        """Kill it with all its threads. Returns how it ended, as text for a fault."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._reap(0)
        return self._ending()

    def ending(self, watch: Callable[[Child], None] = lambda _: None) -> str:
        """Wait a second for it to end, then kill it. Returns how it ended.

        `watch` is called meanwhile, and may end it.
        """
        deadline = time.monotonic() + ENDING_SECONDS
        while self.status is None and time.monotonic() < deadline:
            if not self._reap(os.WNOHANG):
                watch(self)
                time.sleep(0.001)
        return self.end()

    def _reap(self, options: int) -> bool:
        pid, status = os.waitpid(self.pid, options)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(pid)

    def _ending(self) -> str:
        assert self.status is not None  # noqa: S101 (it was reaped just now)
        if self.reason:
            return self.reason
        return f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"


def start_child(run: Callable[[], None], descriptors: Iterable[int]) -> Child:
    """Run a function in a new process with only these open files of this process.

    The child ends when the function returns or raises. It is a copy of this process, so its
    changes do not affect this process.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return Child(pid)
    try:
        free = 3  # the standard streams are the null device
        for kept in sorted(descriptors):
            os.closerange(free, kept)
            free = kept + 1
        os.closerange(free, os.sysconf("SC_OPEN_MAX"))
        sandbox.die_with(parent)
        run()
    except BaseException:  # the parent sees the exit status
        os._exit(1)
    os._exit(0)
