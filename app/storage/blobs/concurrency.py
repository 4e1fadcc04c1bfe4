"""Apply a function to many items, several at a time, without having all items in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from app.thread_pool import ThreadPool

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 4  # items read per thread before their results are consumed


def map_concurrently(
    function: Callable[[Item], Result], items: Iterable[Item], *, concurrency: int
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, running `concurrency` calls at a time.

    The first error ends the iteration.

    >>> list(map_concurrently(lambda number: number * 2, [1, 2, 3], concurrency=2))
    [2, 4, 6]
    """
    with ThreadPool(concurrency) as threads:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(threads.submit(function, item))
                if len(waiting) > concurrency * AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
