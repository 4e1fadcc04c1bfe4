"""Queues by size, so that files of 12 kB do not wait for a file of 250 MB.

Each size has a second queue, for competitions with a metric.py: see `WorkerJobManager`.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.units import MEGABYTE

SMALL, MEDIUM, LARGE = "small", "medium", "large"
QUEUES = (SMALL, MEDIUM, LARGE)
_OWN_METRIC = "-metric.py"  # ends the name of a queue for competitions with a metric.py
# Upper limits in bytes. Reading and checking a file of 8 MB takes a tenth of a second, a file of
# 64 MB about a second. A submission waits no longer than that for another one of its queue.
SMALL_BELOW = 8 * MEGABYTE
MEDIUM_BELOW = 64 * MEGABYTE


def queue_of(size: int, *, has_own_metric: bool = False) -> str:
    """The queue for a submission of `size` bytes.

    >>> [queue_of(n * MEGABYTE) for n in (0, 7, 8, 63, 64, 1024)]
    ['small', 'small', 'medium', 'medium', 'large', 'large']
    """
    queue = SMALL if size < SMALL_BELOW else MEDIUM if size < MEDIUM_BELOW else LARGE
    return with_own_metric(queue) if has_own_metric else queue


def with_own_metric(queue: str) -> str:
    """The queue of the same size for competitions with a metric.py."""
    return queue + _OWN_METRIC


def is_of_own_metric(queue: str) -> bool:
    """Whether a queue is for competitions with a metric.py."""
    return queue.endswith(_OWN_METRIC)


def share(queues: Sequence[str], graders: int, concurrency: int) -> list[tuple[list[str], int]]:
    """Group a worker's queues, with the number of concurrent submissions of each group.

    The number applies to competitions with a metric.py, and again to all others.

    If a worker has small and larger queues, larger submissions never use its last grader: it is
    reserved for small ones. A worker with a single grader cannot reserve one.

    >>> share(["small", "medium", "large"], graders=4, concurrency=8)
    [(['small'], 8), (['medium', 'large'], 3)]
    >>> share(["medium", "large"], graders=4, concurrency=8)
    [(['medium', 'large'], 8)]
    """
    small = [queue for queue in queues if queue == SMALL]
    larger = [queue for queue in queues if queue != SMALL]
    if not (small and larger):
        return [(small or larger, concurrency)]
    return [(small, concurrency), (larger, max(1, min(concurrency, graders - 1)))]
