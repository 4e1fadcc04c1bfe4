"""The limits of a process with a metric.py that the kernel does not enforce.

Each thread takes kernel memory and a process id of the machine. No memory limit counts these, and
RLIMIT_NPROC does not apply to root. Each thread also has its own share of processor time: many
threads that compute would leave little for the server and for the graders of other competitions.

RLIMIT_DATA does not count memory that was written and then made read-only, the stack of the first
thread, and page tables of the kernel. RLIMIT_AS must leave room for addresses that are never
written.

So the process that started such a process measures it from time to time.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from app.graders.program.child import Child
from app.units import MEGABYTE

MOST_THREADS = 256
FEW_THREADS = 8  # libraries start one each, a metric.py with a thread pool some
WATCH_MILLISECONDS = 20  # between two measurements; in this time some 2,000 threads can start
# In addition to the process's own limit, so that an honest metric gets a MemoryError.
SPARE_MB = 64
_OWN = re.compile(rb"^(?:RssAnon|VmPTE|VmSwap):\s*(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JobLimits:
    """The limits of the processes of jobs. `memory_mb` is in addition to what they start with."""

    memory_mb: int

    def passed(self, child: Child) -> str:
        """The limit that an unreaped child of this process has exceeded, if any."""
        if threads(child) > MOST_THREADS:
            return f"more than {MOST_THREADS} threads"
        if own_bytes(child) > (self.memory_mb + SPARE_MB) * MEGABYTE:
            return "more memory than the limit"
        return ""

    def enforce(self, child: Child) -> None:
        """Kill a process that has exceeded a limit; `child.reason` says which.

        A process with more than a few threads gets only the processor time that no other process
        wants.
        """
        reason = self.passed(child)
        if reason:
            child.end()
            child.reason = reason
        elif threads(child) > FEW_THREADS:
            _put_behind_others(child)


def own_bytes(child: Child) -> int:
    """The growth of a process's memory, without mapped files, since it was copied from this one.

    This includes the kernel's page tables: each page that is far from all others needs two of them.
    """
    return _memory(Path("/proc", str(child.pid))) - _memory(Path("/proc/self"))


def _memory(process: Path) -> int:
    """The memory of a process without mapped files; 0 if it has ended."""
    found = _own_memory(process)
    if not found:  # the process's first thread has ended, and others run
        with contextlib.suppress(OSError):
            found = max(map(_own_memory, (process / "task").iterdir()), default=0)
    return found


def _own_memory(process: Path) -> int:
    try:
        status = (process / "status").read_bytes()
    except OSError:
        return 0
    return sum(map(int, _OWN.findall(status))) * 1024


def threads(child: Child) -> int:
    """The threads of a process; 0 if it has ended."""
    try:
        return os.stat(f"/proc/{child.pid}/task").st_nlink - 2  # noqa: PTH116
    except OSError:  # /proc is not mounted
        return 0


def _put_behind_others(child: Child) -> None:
    """Let its threads, and new ones, run only while no other process wants the processor."""
    with contextlib.suppress(OSError):  # it ended
        for task in Path(f"/proc/{child.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # this thread ended
                os.sched_setscheduler(int(task.name), os.SCHED_IDLE, os.sched_param(0))
