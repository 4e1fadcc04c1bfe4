"""The grading loop: one consumer, the same in the server, in tests and on the command line."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from app.domain.states import SubmissionState
from app.errors import PodiumError, StorageFull, Unavailable
from app.graders.outcomes import Fault, Outcome
from app.instruments import GRADING_SECONDS, SETTLED
from app.services import grade
from app.services.context import Context
from app.storage.records import ClaimRecord

log = logging.getLogger("podium.worker")

# Claimed per grader at most: one at work and enough behind it that it never waits for a commit.
CLAIMED_PER_GRADER = 16
IDLE_SECONDS = 1.0  # how often an idle loop looks for rows that nobody announced
PAUSE_SECONDS = 0.5  # before the database is tried again


class Worker:
    """Claims queued submissions and sees each through to its one outcome."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._in_flight = 0
        self._capacity = CLAIMED_PER_GRADER * context.settings.graders

    def wake(self) -> None:
        """Say that something was queued. Callable from any thread."""
        self._wake.set()

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade until `stop(idle)` says so; it is asked after every look at the queue.

        `stop=lambda idle: idle` drains the queue and returns.
        """
        while True:
            self._wake.clear()
            claimed = self._claim()
            for one in claimed:
                self._start(one)
            with self._lock:
                idle = not claimed and self._in_flight == 0
            if stop(idle):
                return
            if not claimed:
                self._wake.wait(IDLE_SECONDS)

    def _claim(self) -> list[ClaimRecord]:
        with self._lock:
            free = self._capacity - self._in_flight
        if free <= 0:
            return []
        try:
            claimed = grade.claim(self._context, free)
        except PodiumError as error:
            # The database is away. The rows stay queued; nothing is lost by waiting.
            log.warning("cannot claim submissions", extra={"error": str(error)})
            time.sleep(PAUSE_SECONDS)
            return []
        with self._lock:
            self._in_flight += len(claimed)
        return claimed

    def _start(self, claimed: ClaimRecord) -> None:
        started = time.monotonic()

        def graded(future: Future[Outcome]) -> None:
            if future.cancelled():
                return  # the graders are closing; the row is graded after the next start
            error = future.exception()
            if isinstance(error, Unavailable | StorageFull):
                # The store of files is away. The claim is kept, and no attempt is used up.
                self._start_later(claimed)
                return
            GRADING_SECONDS.labels(claimed.competition).observe(time.monotonic() - started)
            if error is not None:
                log.error("cannot grade", exc_info=error, extra={"submission": claimed.id})
                self._finish(claimed, Fault("internal", type(error).__name__))
            else:
                self._finish(claimed, future.result())

        try:
            future = grade.start(self._context, claimed)
        except Unavailable:
            self._start_later(claimed)  # the database is away
            return
        except Exception:
            # Not the file's fault, whatever it is; and the loop must live on for the others.
            log.exception("cannot start a grading", extra={"submission": claimed.id})
            self._finish(claimed, Fault("not_started", ""))
            return
        future.add_done_callback(graded)

    def _start_later(self, claimed: ClaimRecord) -> None:
        """Try to start a grading again after a pause; the timer dies with the process."""
        timer = threading.Timer(PAUSE_SECONDS, self._start, (claimed,))
        timer.daemon = True
        timer.start()

    def _finish(self, claimed: ClaimRecord, outcome: Outcome) -> None:
        if isinstance(outcome, Fault):
            log.error(
                "grading fault",
                extra={"submission": claimed.id, "kind": outcome.kind, "place": outcome.place,
                       "attempt": claimed.attempts},
            )  # fmt: skip

        def written(future: Future[SubmissionState]) -> None:
            error = future.exception()
            if isinstance(error, Unavailable | StorageFull):
                # Graded, but the database is away for longer than a write's patience: try on.
                self._later(claimed, outcome)
            elif error is not None:
                log.error(
                    "cannot write an outcome", exc_info=error, extra={"submission": claimed.id}
                )
                if isinstance(outcome, Fault):
                    self._release()  # the row stays `grading`, and is graded after the next start
                else:
                    self._later(claimed, Fault("internal", type(error).__name__))
            else:
                self._release()
                _count(future.result())

        grade.finish(self._context, claimed, outcome).add_done_callback(written)

    def _later(self, claimed: ClaimRecord, outcome: Outcome) -> None:
        """Try to write an outcome again after a pause; the timer dies with the process."""
        timer = threading.Timer(PAUSE_SECONDS, self._finish, (claimed, outcome))
        timer.daemon = True
        timer.start()

    def _release(self) -> None:
        with self._lock:
            self._in_flight -= 1
        self._wake.set()


def _count(state: SubmissionState) -> None:
    if state.is_settled:
        SETTLED.labels(state.value).inc()
