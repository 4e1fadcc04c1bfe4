"""A pool of threads that does what it took, and nothing that it refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


class ThreadPool(ThreadPoolExecutor):
    """As the library's executor, also where the system gives no more threads.

    The library puts a call into its queue, then starts a thread for it. If that fails, `submit`
    raises, but the call stays in the queue, and a thread does it later: after its caller was told
    that it was not done. Here such a call waits for a thread that runs. If none does yet, `submit`
    raises, and the call is never done.
    """

    def _adjust_thread_count(self) -> None:
        # `submit` calls it with the pool's lock held, just after it has queued the call.
        try:
            super()._adjust_thread_count()
        except (RuntimeError, MemoryError):
            if not self._threads:  # so the queue has nothing but this call
                self._work_queue.get_nowait()
                raise
