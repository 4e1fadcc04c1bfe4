"""The grading loop of a server that grades without other workers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from app.errors import PodiumError
from app.services.grading import recovery
from app.services.grading.lifecycle import PAUSE_SECONDS, GradingEnd, GradingLifecycle
from app.services.runtime.context import Context
from app.storage.database.records import ClaimRecord

log = logging.getLogger("podium.worker")

# Submissions claimed per grader at most: enough that a grader never waits for a commit.
CLAIMED_PER_GRADER = 16
IDLE_SECONDS = 1.0  # how often an idle loop queries for submissions without being woken


class Worker:
    """Claims queued submissions, oldest first, and grades them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lifecycle = GradingLifecycle(context)
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._in_flight = 0
        # The queued submissions during whose grading a server died; None: not asked for yet.
        self._suspects: list[str] | None = None
        self._is_suspect_graded = False
        self._capacity = CLAIMED_PER_GRADER * context.settings.graders

    def wake(self) -> None:
        """Query the queue now, because a submission was queued. Callable from any thread."""
        self._wake.set()

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade until `stop(idle)` returns true. It is called after every query of the queue.

        `stop=lambda idle: idle` drains the queue and returns.
        """
        while True:
            self._wake.clear()
            claimed = self._claim()
            for one in claimed:
                self._lifecycle.start(one).add_done_callback(self._release)
            with self._lock:
                idle = not claimed and self._in_flight == 0
            if stop(idle):
                return
            if not claimed:
                self._wake.wait(IDLE_SECONDS)

    def _claim(self) -> list[ClaimRecord]:
        with self._lock:
            free = self._capacity - self._in_flight
            is_busy = self._in_flight > 0
        # Each suspect is graded alone, before all others: should it kill this server too, nothing
        # else is counted as having done so.
        if is_busy and (self._suspects or self._is_suspect_graded):
            return []
        # Claim many at a time: a transaction costs the same for one submission and for sixteen.
        # The other half of the capacity keeps the graders busy until the next claim.
        if free < self._capacity / 2:
            return []
        try:
            if self._suspects is None:
                self._suspects = recovery.suspects(self._context)
            only = self._suspects[0] if self._suspects else None
            claimed = self._lifecycle.claim(free, only=only)
            self._suspects = self._suspects[1:]
            self._is_suspect_graded = only is not None
        except PodiumError as error:
            # The database is away. The submissions stay queued, so waiting is safe.
            log.warning("cannot claim submissions", extra={"error": type(error).__name__})
            time.sleep(PAUSE_SECONDS)
            return []
        with self._lock:
            self._in_flight += len(claimed)
        return claimed

    def _release(self, end: GradingEnd) -> None:
        # Whatever the result was. A submission left in `grading` is graded after the next start.
        with self._lock:
            self._in_flight -= 1
        self._wake.set()


class NoWorker:
    """A server's worker if other processes grade. It does nothing: the queue wakes the others."""

    def wake(self) -> None:
        """Do nothing."""

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Return at once."""
