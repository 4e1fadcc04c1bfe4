"""The loop of a server that grades for itself."""

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

# Claimed per grader at most: one at work and enough behind it that it never waits for a commit.
CLAIMED_PER_GRADER = 16
IDLE_SECONDS = 1.0  # how often an idle loop looks for rows that nobody announced


class Worker:
    """Claims queued submissions, oldest first, and sees each through to its one outcome."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lifecycle = GradingLifecycle(context)
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._in_flight = 0
        self._suspects: list[str] = []
        self._capacity = CLAIMED_PER_GRADER * context.settings.graders

    def wake(self) -> None:
        """Say that something was queued. Callable from any thread."""
        self._wake.set()

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade until `stop(idle)` says so; it is asked after every look at the queue.

        `stop=lambda idle: idle` drains the queue and returns.
        """
        # A server died while it graded these. Each is graded alone, before all others: should it
        # kill this server too, nothing else is counted as having done so.
        self._suspects = recovery.suspects(self._context)
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
        if self._suspects and is_busy:
            return []
        # Many at a time: a claim is a transaction, whose cost is the same for one and for sixteen.
        # The other half is work enough for the graders until the next.
        if free < self._capacity / 2:
            return []
        try:
            only = self._suspects[0] if self._suspects else None
            claimed = self._lifecycle.claim(free, only=only)
            self._suspects = self._suspects[1:]
        except PodiumError as error:
            # The database is away. The rows stay queued; nothing is lost by waiting.
            log.warning("cannot claim submissions", extra={"error": type(error).__name__})
            time.sleep(PAUSE_SECONDS)
            return []
        with self._lock:
            self._in_flight += len(claimed)
        return claimed

    def _release(self, end: GradingEnd) -> None:
        # Whatever became of it. A row that stayed `grading` is graded after the next start.
        with self._lock:
            self._in_flight -= 1
        self._wake.set()


class NoWorker:
    """What a server has in a worker's place when others grade: the queue itself tells them."""

    def wake(self) -> None:
        """Nobody here has to be woken."""

    def run(self, stop: Callable[[bool], bool]) -> None:
        """There is nothing to do here."""
