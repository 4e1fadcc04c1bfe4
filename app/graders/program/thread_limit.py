"""The limit of threads of a process that runs a metric.py.

Each thread takes memory of the kernel and a process id of the machine, which no limit of memory
counts, and RLIMIT_NPROC does not hold for root. So the process that started it looks now and then.
"""

from __future__ import annotations

import os

from app.graders.program.child import Child

MOST_THREADS = 256
WATCH_MILLISECONDS = 20  # between two looks; some 2,000 threads can be started meanwhile


def has_too_many_threads(child: Child) -> bool:
    """Whether a process that was not reaped has more than `MOST_THREADS` threads."""
    try:
        return os.stat(f"/proc/{child.pid}/task").st_nlink - 2 > MOST_THREADS  # noqa: PTH116
    except OSError:  # no /proc here
        return False


def end_if_too_many_threads(child: Child) -> None:
    """Kill a process that has too many threads; how it ended says why."""
    if has_too_many_threads(child):
        child.end()
        child.reason = f"more than {MOST_THREADS} threads"
