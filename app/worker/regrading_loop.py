"""Grade submissions of regrades in a process that grades without other workers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from app.errors import PodiumError
from app.services.regrades.regrading import Regrading
from app.services.runtime.context import Context
from app.storage.queries.regrades.outcomes import ClaimedRegrading

log = logging.getLogger("podium.worker")
IDLE_SECONDS = 1.0  # how often an idle loop looks for a regrade
BUSY_SECONDS = 0.05  # how often it looks whether live submissions have been graded


class RegradingLoop:
    """Works at the running regrades, oldest first, while no live submission waits.

    `is_free` says whether live submissions leave the graders free. At most one submission more
    than there are graders is sent to them, so a live one waits for one grading at most.
    """

    def __init__(self, context: Context, is_free: Callable[[], bool] = lambda: True) -> None:
        self._regrading = Regrading(context)
        self._is_free = is_free
        self._capacity = context.settings.graders + 1
        self._in_flight: dict[tuple[str, str], ClaimedRegrading] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()

    def wake(self) -> None:
        """Look for work now. Callable from any thread."""
        self._wake.set()

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade until `stop(idle)` returns true; what was begun is then given back.

        It is idle if no regrade is running.
        """
        while True:
            self._wake.clear()
            idle = False
            try:
                idle = self._step()
            except PodiumError as error:
                log.warning("cannot work at a regrade", extra={"error": type(error).__name__})
            if stop(idle):
                break
            self._wake.wait(BUSY_SECONDS if self._in_flight or not idle else IDLE_SECONDS)

    def give_back(self) -> None:
        """Let the attempts not count that ended with the graders. The graders are closed before."""
        with self._lock:
            left = list(self._in_flight.values())
        for one in left:
            try:
                self._regrading.give_back(one).result()
            except PodiumError as error:  # one attempt too many is counted
                log.warning("cannot give back", extra={"error": type(error).__name__})

    def _step(self) -> bool:
        """Send submissions to the graders. Returns whether no regrade is running."""
        with self._lock:
            busy = set(self._in_flight)
        running = self._regrading.running()
        if not running:
            return not busy
        free = self._capacity - len(busy)
        if free <= 0 or not self._is_free():
            return False
        for one in running:
            ids = self._regrading.queued(one.id, free + len(busy))
            new = [each for each in ids if (one.id, each) not in busy][:free]
            if new:
                self._start(self._regrading.claim(one.id, new))
                return False
            if not ids:
                self._regrading.finish(one.id)
        return False

    def _start(self, claimed: list[ClaimedRegrading]) -> None:
        for one in claimed:
            key = (one.regrade_id, one.submission_id)
            with self._lock:
                self._in_flight[key] = one
            self._regrading.start(one).add_done_callback(
                lambda end, key=key: self._ended(end, key)  # type: ignore[misc]
            )

    def _ended(self, end: Future[bool], key: tuple[str, str]) -> None:
        if end.cancelled():
            return  # the graders are closing: `give_back` needs it
        with self._lock:
            self._in_flight.pop(key, None)
        self._wake.set()
