"""The loops of a process that grades by itself: one for live submissions, one for regrades."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from app.services.grading import recovery
from app.services.grading.lifecycle import GradingLifecycle
from app.services.grading.submission_claims import SubmissionClaims
from app.services.regrades.regrade_claims import RegradeClaims
from app.services.runtime.context import Context
from app.storage.database.records import ClaimRecord
from app.storage.queries.regrades.outcomes import ClaimedRegrading
from app.worker.grading_loop import IDLE_SECONDS, GradingLoop, pause

# Submissions claimed per grader at most: enough that a grader never waits for a commit.
CLAIMED_PER_GRADER = 16
REST_SECONDS = 0.01  # between two claims, while the graders have work
ALONE_SECONDS = 60.0  # the limit for all files during whose grading a server died
BUSY_SECONDS = 0.05  # how often the regrades' loop checks whether live submissions are graded


class Worker(GradingLoop[ClaimRecord]):
    """Claims queued submissions, by turns of their runs, and grades them.

    Files during whose grading a server died come first, one at a time, for at most `alone_seconds`
    together, because one that hangs must not delay all others.
    """

    def __init__(self, context: Context, alone_seconds: float = ALONE_SECONDS) -> None:
        self._context = context
        self._alone_seconds = alone_seconds
        self._claims = SubmissionClaims(context)
        graders = context.settings.graders
        super().__init__(
            GradingLifecycle(context, self._claims),
            capacity=2 * CLAIMED_PER_GRADER * graders,  # those with a metric.py, and the others
            enough=graders,
            rest_seconds=REST_SECONDS,
        )
        self._suspects_done = threading.Event()

    def wait_for_suspects(self, seconds: float) -> None:
        """Wait until the suspects are graded, at most for this number of seconds."""
        self._suspects_done.wait(seconds)

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Grade the suspects, then the others: see `GradingLoop.run`."""
        if self._grade_suspects(stop):
            self._suspects_done.set()
            super().run(stop)

    def _grade_suspects(self, stop: Callable[[bool], bool]) -> bool:
        """Grade each file during whose grading a server died, alone and before all others.

        If it kills this server too, no other file is counted as the cause. When the time is over,
        gradings that have not ended continue together with the others. Returns False if `stop` says
        to stop.
        """
        suspects: list[str] | None = None
        deadline = math.inf
        while suspects is None or suspects:
            try:
                if suspects is None:
                    suspects = recovery.suspects(self._context)
                    deadline = time.monotonic() + self._alone_seconds
                claimed = self._claims.claim_one(suspects[0]) if suspects else []
            except Exception as error:
                pause(error)
            else:
                suspects = suspects[1:]
                self._start(claimed)
            while not self.is_idle() and (left := deadline - time.monotonic()) > 0:
                self._wake.wait(min(left, IDLE_SECONDS))
                self._wake.clear()
                if stop(False):
                    return False
            if stop(False):
                return False
            if time.monotonic() >= deadline:
                return True
        return True


def regrading_loop(
    context: Context, is_free: Callable[[], bool] = lambda: True
) -> GradingLoop[ClaimedRegrading]:
    """The loop that grades for the running regrades, oldest first, while no live submission waits.

    `is_free` says whether live submissions leave the graders free. The loop sends at most one
    submission more than there are graders, so a live one waits for at most one grading.
    """
    return GradingLoop(
        GradingLifecycle(context, RegradeClaims(context)),
        capacity=context.settings.graders + 1,
        is_free=is_free,
        busy_seconds=BUSY_SECONDS,
    )


class NoWorker:
    """A server's worker if other processes grade. It does nothing: the queue wakes the others."""

    def wake(self) -> None:
        """Do nothing."""

    def wait_for_suspects(self, seconds: float) -> None:
        """Return at once."""

    def run(self, stop: Callable[[bool], bool]) -> None:
        """Return at once."""
