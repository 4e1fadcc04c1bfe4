"""The limits of threads of a process that runs a metric.py.

Each thread takes memory of the kernel and a process id of the machine, which no limit of memory
counts, and RLIMIT_NPROC does not hold for root. Each also has a share of the processors of its own:
many that compute would leave little to the server and to the graders of other competitions. So the
process that started it looks now and then.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from app.graders.program.child import Child

MOST_THREADS = 256
FEW_THREADS = 8  # libraries have one each; a metric.py that uses a pool may have some
WATCH_MILLISECONDS = 20  # between two looks; some 2,000 threads can be started meanwhile


def has_too_many_threads(child: Child) -> bool:
    """Whether a process that was not reaped has more than `MOST_THREADS` threads."""
    return _threads(child) > MOST_THREADS


def end_if_too_many_threads(child: Child) -> None:
    """Kill a process that has too many threads; how it ended says why.

    One that has more than a few gets only the processor time that no other process wants.
    """
    threads = _threads(child)
    if threads > MOST_THREADS:
        child.end()
        child.reason = f"more than {MOST_THREADS} threads"
    elif threads > FEW_THREADS:
        _put_behind_others(child)


def _threads(child: Child) -> int:
    try:
        return os.stat(f"/proc/{child.pid}/task").st_nlink - 2  # noqa: PTH116
    except OSError:  # no /proc here
        return 0


def _put_behind_others(child: Child) -> None:
    """Let its threads run while no other process wants the processor; new ones inherit that."""
    with contextlib.suppress(OSError):  # it ended
        for task in Path(f"/proc/{child.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # this thread ended
                os.sched_setscheduler(int(task.name), os.SCHED_IDLE, os.sched_param(0))
