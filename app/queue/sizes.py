"""Queues by size, so that a file of 250 MB does not hold back files of 12 kB."""

from __future__ import annotations

from collections.abc import Sequence

MEGABYTE = 1024 * 1024
SMALL, MEDIUM, LARGE = "small", "medium", "large"
QUEUES = (SMALL, MEDIUM, LARGE)
# Below these many bytes. A file of 8 MB is read and checked in a tenth of a second, one of 64 MB
# in about a second: what waits behind one of the same queue waits no longer than that for its form.
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
    """The queues that are served together, and how many of their submissions at once.

    Where small ones are served beside larger ones, the larger ones never take the last grader: one
    is always free for small ones, or soon will be. A worker with a single grader cannot do that.

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
