"""Queues by size, so that files of 12 kB do not wait for a file of 250 MB."""

from __future__ import annotations

from collections.abc import Sequence

from app.units import MEGABYTE

SMALL, MEDIUM, LARGE = "small", "medium", "large"
QUEUES = (SMALL, MEDIUM, LARGE)
# Upper limits in bytes. Reading and checking a file of 8 MB takes a tenth of a second, a file of
# 64 MB about a second. A submission waits no longer than that for another one of its queue.
SMALL_BELOW = 8 * MEGABYTE
MEDIUM_BELOW = 64 * MEGABYTE


def queue_of(size: int) -> str:
    """The queue for a submission of `size` bytes.

    >>> [queue_of(n * MEGABYTE) for n in (0, 7, 8, 63, 64, 1024)]
    ['small', 'small', 'medium', 'medium', 'large', 'large']
    """
    if size < SMALL_BELOW:
        return SMALL
    return MEDIUM if size < MEDIUM_BELOW else LARGE


def share(queues: Sequence[str], graders: int, concurrency: int) -> list[tuple[list[str], int]]:
    """Group a worker's queues, with the number of concurrent submissions of each group.

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
