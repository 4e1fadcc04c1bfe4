"""A pool of threads that never runs a call that it refused, and a map that uses such a pool."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 4  # items read per thread before their results are consumed


class ThreadPool(ThreadPoolExecutor):
    """Like the library's executor, but correct even if the system has no more threads.

    The library puts a call into its queue, then starts a thread for it. If that fails, `submit`
    raises, but the call stays in the queue, and a thread runs it later, after its caller was told
    that it was refused. Here such a call waits for a running thread. If there is none yet, `submit`
    raises, and the call is never run.
    """

    def _adjust_thread_count(self) -> None:
        # `submit` calls it with the pool's lock held, just after it has queued the call.
        try:
            super()._adjust_thread_count()
        except (RuntimeError, MemoryError):
            if not self._threads:  # so the queue has only this call
                self._work_queue.get_nowait()
                raise


def map_concurrently(
    function: Callable[[Item], Result], items: Iterable[Item], *, concurrency: int
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, running `concurrency` calls at a time.

    The items need not all be in memory: a few are read ahead of the results that were consumed.
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
