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
        self._suspects_done = threading.Event()
        self._capacity = CLAIMED_PER_GRADER * context.settings.graders

    def wake(self) -> None:
        """Query the queue now, because a submission was queued. Callable from any thread."""
        self._wake.set()

    def wait_for_suspects(self, seconds: float) -> None:
        """Wait until the suspects are graded, at most so many seconds."""
        self._suspects_done.wait(seconds)

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade until `stop(idle)` returns true. It is called after every query of the queue.

        `stop=lambda idle: idle` drains the queue and returns.
        """
        if not self._grade_suspects(stop):
            return
        self._suspects_done.set()
        while True:
            self._wake.clear()
            claimed = self._claim()
            self._start(claimed)
            if stop(not claimed and self.is_idle()):
                return
            if not claimed:
                self._wake.wait(IDLE_SECONDS)

    def _grade_suspects(self, stop: Callable[[bool], bool]) -> bool:
        """Grade each file during whose grading a server died, alone and before all others.

        Should it kill this server too, nothing else is counted as having done so. Returns whether
        all are graded; False if `stop` says to stop.
        """
        suspects: list[str] | None = None
        while suspects is None or suspects:
            try:
                if suspects is None:
                    suspects = recovery.suspects(self._context)
                claimed = self._lifecycle.claim(1, only=suspects[0]) if suspects else []
            except PodiumError as error:
                _pause(error)
            else:
                suspects = suspects[1:]
                self._start(claimed)
            while not self.is_idle():
                self._wake.wait(IDLE_SECONDS)
                self._wake.clear()
                if stop(False):
                    return False
            if stop(False):
                return False
        return True

    def _claim(self) -> list[ClaimRecord]:
        # Claim many at a time: a transaction costs the same for one submission and for sixteen.
        # The other half of the capacity keeps the graders busy until the next claim.
        with self._lock:
            free = self._capacity - self._in_flight
        if free < self._capacity / 2:
            return []
        try:
            return self._lifecycle.claim(free)
        except PodiumError as error:
            _pause(error)
            return []

    def _start(self, claimed: list[ClaimRecord]) -> None:
        with self._lock:
            self._in_flight += len(claimed)
        for one in claimed:
            self._lifecycle.start(one).add_done_callback(self._release)

    def is_idle(self) -> bool:
        """Whether no submission is being graded, nor claimed for it."""
        with self._lock:
            return self._in_flight == 0

    def _release(self, end: GradingEnd) -> None:
        # Whatever the result was. A submission left in `grading` is graded after the next start.
        with self._lock:
            self._in_flight -= 1
        self._wake.set()


def _pause(error: PodiumError) -> None:
    """Wait for the database. The submissions stay queued, so waiting is safe."""
    log.warning("cannot claim submissions", extra={"error": type(error).__name__})
    time.sleep(PAUSE_SECONDS)


class NoWorker:
    """A server's worker if other processes grade. It does nothing: the queue wakes the others."""

    def wake(self) -> None:
        """Do nothing."""

    def wait_for_suspects(self, seconds: float) -> None:
        """Return at once."""

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Return at once."""
