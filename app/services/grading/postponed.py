"""Call functions after a pause, in one thread that runs as long as the process.

A new thread for each call could not be started if the system has no more threads, which is one of
the reasons why a grading has to wait.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("podium.worker")


class Postponed:
    """The functions that are to be called later."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()  # of two with the same time, the first is called first
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs. It ends with the process."""
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="postponed", daemon=True)
                thread.start()
                self._thread = thread

    def add(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function after this number of seconds. The function must not wait for anything."""
        with self._changed:
            due = time.monotonic() + seconds
            heapq.heappush(self._waiting, (due, next(self._numbers), function))
            self._changed.notify()

    def _run(self) -> None:
        while True:
            function = self._next()
            try:
                function()
            except Exception:  # the others must be called too
                log.exception("cannot continue a grading that had to wait")

    def _next(self) -> Callable[[], None]:
        with self._changed:
            while not self._waiting or self._waiting[0][0] > time.monotonic():
                left = self._waiting[0][0] - time.monotonic() if self._waiting else None
                self._changed.wait(left)
            return heapq.heappop(self._waiting)[2]
