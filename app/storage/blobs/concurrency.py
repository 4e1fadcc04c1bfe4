"""The same work on many things, several at a time, without holding all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 4  # things taken per thread before their results are


def map_concurrently(
    function: Callable[[Item], Result], items: Iterable[Item], *, at_once: int
) -> Iterator[Result]:
    """`function` of each item, in order, `at_once` of them at work; the first error ends it.

    >>> list(map_concurrently(lambda number: number * 2, [1, 2, 3], at_once=2))
    [2, 4, 6]
    """
    with ThreadPoolExecutor(at_once) as threads:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(threads.submit(function, item))
                if len(waiting) > at_once * AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
