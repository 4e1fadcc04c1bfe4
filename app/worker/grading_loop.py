"""The loop that claims submissions and grades them: live ones, or those of regrades."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic

from app.domain.states import SubmissionState
from app.errors import PodiumError
from app.logs import log_outage
from app.services.grading.claim_store import AnyClaim
from app.services.grading.lifecycle import DATABASE_PAUSE_SECONDS, GradingEnd, GradingLifecycle

log = logging.getLogger("podium.worker")
IDLE_SECONDS = 1.0  # how often an idle loop queries for submissions without being woken


class GradingLoop(Generic[AnyClaim]):
    """Claims submissions and grades them, at most `capacity` at the same time.

    It claims many at a time, because a transaction costs the same for one submission as for
    sixteen. So it pauses for `rest_seconds` between two claims while more than `enough` are in
    flight. It claims nothing while `is_free` returns false. `busy_seconds` is how long it waits,
    unless it is woken, while there is work that it may not claim.
    """

    def __init__(
        self,
        lifecycle: GradingLifecycle[AnyClaim],
        *,
        capacity: int,
        enough: int = 0,
        rest_seconds: float = 0.0,
        is_free: Callable[[], bool] = lambda: True,
        busy_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._lifecycle = lifecycle
        self._capacity = capacity
        self._enough = enough
        self._rest_seconds = rest_seconds
        self._rested_at = 0.0
        self._claim_at = 0.0  # the latest time of the next claim
        self._is_free = is_free
        self._busy_seconds = busy_seconds
        self._in_flight: set[AnyClaim] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._news = threading.Event()  # something may be queued that the last claim has not seen
        self._news.set()

    def wake(self) -> None:
        """Query for submissions now. Callable from any thread."""
        self._news.set()
        self._wake.set()

    def is_idle(self) -> bool:
        """Whether no submission is being graded or claimed."""
        with self._lock:
            return not self._in_flight

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade until `stop(idle)` returns true. It is called after every query for submissions.

        `stop=lambda idle: idle` grades everything and returns.
        """
        while True:
            self._wake.clear()
            # Read before the query: a grading that ends after it may have queued its submission.
            was_idle = self.is_idle()
            claimed = self.claim()
            self._start(claimed or [])
            if stop(claimed is None and was_idle):
                return
            if not claimed:
                self._wake.wait(IDLE_SECONDS if claimed is None else self._busy_seconds)

    def give_back(self) -> None:
        """Undo the count of attempts that ended with the graders. Close the graders first."""
        with self._lock:
            left = list(self._in_flight)
        for one in left:
            try:
                self._lifecycle.claims.give_back(one).result()
            except Exception as error:  # the only effect is that one attempt too many is counted
                log.warning("cannot give back", extra={"error": type(error).__name__})

    def claim(self) -> list[AnyClaim] | None:
        """New claims; None if there is nothing to grade except what is in flight."""
        with self._lock:
            rests = len(self._in_flight) > self._enough
        if rests:
            time.sleep(max(0.0, self._rested_at - time.monotonic()))
        self._rested_at = time.monotonic() + self._rest_seconds
        with self._lock:
            busy = list(self._in_flight)
        free = self._capacity - len(busy)
        if free < 1:
            return []
        # Other processes may have queued something, and gradings that end wake this loop as well.
        is_time = time.monotonic() >= self._claim_at
        if not (is_time or self._news.is_set() or self._lifecycle.claims.may_have_more):
            return None  # without a transaction
        self._claim_at = time.monotonic() + IDLE_SECONDS
        self._news.clear()
        try:
            return self._lifecycle.claims.claim(free if self._is_free() else 0, busy)
        except Exception as error:  # nothing else would grade until a restart
            self._news.set()
            pause(error)
            return []

    def _start(self, claimed: list[AnyClaim]) -> None:
        with self._lock:
            # A standby that took over may lack a claim. If it is made again, it is being graded
            # already.
            new = [one for one in claimed if one not in self._in_flight]
            self._in_flight.update(new)
        for one in new:
            self._lifecycle.start(one).add_done_callback(
                lambda end, one=one: self._release(one, end)  # type: ignore[misc]
            )

    def _release(self, claimed: AnyClaim, end: GradingEnd) -> None:
        # Whatever the result is. But `give_back` needs those that were cancelled with the graders.
        if end.cancelled():
            return
        # Before the loop can be idle, so that it does not end while something is queued again.
        if end.result() is SubmissionState.QUEUED:
            self._news.set()
        with self._lock:
            self._in_flight.discard(claimed)
        self._wake.set()


def pause(error: Exception) -> None:
    """Wait for the database. The submissions stay queued, so waiting is safe.

    Any error may be temporary, even one of a database without memory, or that is read-only.
    """
    if isinstance(error, PodiumError):
        log_outage(log, "cannot claim submissions; they wait", error)
    else:
        log.error("cannot claim submissions", exc_info=error)
    time.sleep(DATABASE_PAUSE_SECONDS)
