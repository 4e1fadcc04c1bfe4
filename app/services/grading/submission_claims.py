"""Claims on live submissions: the `ClaimStore` of servers that grade, and of workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial

from sqlalchemy.orm import Session

from app.domain.competition import METRIC_FILE
from app.domain.states import SubmissionState
from app.graders.messages.results import GradingResult
from app.prometheus_metrics import SETTLED, observe_grading
from app.services.grading import gradings_in_progress
from app.services.grading.claim_jobs import ClaimedJob, DeliveredJob, claim_jobs
from app.services.grading.write_outcomes import FinishedGrading, write_outcomes
from app.services.runtime.context import Context
from app.services.runtime.turns import Turns
from app.storage.database.batch import WriteBatch
from app.storage.database.records import ClaimRecord
from app.storage.queries import claims, direct_claims, submissions
from app.storage.queries.direct_claims import ClaimLimits

MOST_OF_RUN = 16  # submissions of one run that are claimed at a time


class SubmissionClaims:
    """Claims live submissions, and writes their outcomes, many in one transaction.

    With `are_others`, a queue delivers the submissions to claim, and the queue itself counts the
    deaths of its workers.
    """

    def __init__(self, context: Context, *, are_others: bool = False) -> None:
        self._context = context
        self._are_others = are_others
        self.may_have_more = True
        self._outages = 0  # the writer's outages whose lost claims were queued again
        self._noted: set[str] = set()  # ids of files noted as being graded
        graders = context.settings.graders
        self._turns: Turns[GradingResult] = Turns(graders)
        self._turns_with_own_metric: Turns[GradingResult] = Turns(graders)
        attempts = context.settings.grading_attempts
        self._job_claims: WriteBatch[DeliveredJob, ClaimedJob] = WriteBatch(
            context.database.writer, partial(claim_jobs, max_attempts=attempts)
        )
        self._finished: WriteBatch[FinishedGrading, SubmissionState | None] = WriteBatch(
            context.database.writer, partial(write_outcomes, max_attempts=attempts)
        )

    def claim(self, limit: int, busy: Collection[ClaimRecord] = ()) -> list[ClaimRecord] | None:
        """Claim up to `limit` queued submissions, by turns of their runs. None if none is queued.

        A few submissions of each run are claimed ahead, so that its next one is ready, but not
        more: other runs have to get claims too. At most half of the claims are for competitions
        with a metric.py, and at most half for others. Otherwise a slow metric.py would take them
        all.
        """
        if limit < 1:
            return []
        instance, now = self._context.instance, datetime.now(UTC)
        half = (limit + len(busy)) // 2
        of_own = sum(self._has_own_metric(one) for one in busy)
        limits = ClaimLimits(
            METRIC_FILE,
            with_file=max(0, min(limit, half - of_own)),
            without_file=max(0, min(limit, half - (len(busy) - of_own))),
            most_of_run=MOST_OF_RUN,
            held=Counter(one.run_id for one in busy),
        )

        writer = self._context.database.writer

        def claim_both(session: Session) -> tuple[list[ClaimRecord], bool, int]:
            outages = writer.outages
            if outages != self._outages:
                self._queue_lost(session, {one.id for one in busy})
            found, has_more = direct_claims.claim(session, instance, limits, now)
            self._find_own_metrics(session, found)
            return found, has_more, outages

        claimed, self.may_have_more, self._outages = self._context.database.write(claim_both)
        return claimed or None

    def claim_one(self, submission_id: str) -> list[ClaimRecord]:
        """Claim a submission if it is queued."""
        instance, now = self._context.instance, datetime.now(UTC)

        def claim_it(session: Session) -> list[ClaimRecord]:
            claimed = direct_claims.claim_named(session, instance, [submission_id], now)
            self._find_own_metrics(session, claimed)
            return claimed

        return self._context.database.write(claim_it)

    def claim_job(self, delivered: DeliveredJob) -> Future[ClaimedJob]:
        """Claim the submission of a job that the queue delivered. May be repeated.

        The future raises OtherEnvironment if this process may not grade in this database.
        """
        return self._job_claims.add(delivered)

    def in_turn(
        self, claimed: ClaimRecord, send: Callable[[], Future[GradingResult]]
    ) -> Future[GradingResult]:
        """Send the file when it is its run's turn: one file of a run is graded at a time."""
        if self._are_others:  # the queue gives the turns
            return send()
        turns = self._turns_with_own_metric if self._has_own_metric(claimed) else self._turns
        return turns.add(claimed.run_id, send)

    def write(
        self, claimed: ClaimRecord, outcome: GradingResult, metric: str
    ) -> Future[SubmissionState | None]:
        """Write an outcome, unless the claim was lost: see `write_outcomes`."""
        finished = FinishedGrading(claimed, outcome, metric, datetime.now(UTC))
        writing = self._finished.add(finished)
        writing.add_done_callback(_count)
        return writing

    def give_back(self, claimed: ClaimRecord) -> Future[None]:
        """Queue a submission again whose grading was interrupted; the attempt does not count."""
        return self._context.database.enqueue(
            lambda session: claims.give_back(session, claimed.id, claimed.claimed_by)
        )

    def begun(self, claimed: ClaimRecord) -> None:
        """Note that a grader gets the submission, for the case that this server dies."""
        if not self._are_others:
            self._noted.add(claimed.id)
            gradings_in_progress.begin(self._context.settings, claimed.id)

    def graded(self, claimed: ClaimRecord, seconds: float) -> None:
        """Count the grading in the metrics. A later death of the server is not due to the file."""
        observe_grading(claimed.competition, seconds)
        self.ended(claimed)

    def ended(self, claimed: ClaimRecord) -> None:
        """Remove the note that a grader has the submission, unless that was done already."""
        if claimed.id in self._noted:
            self._noted.discard(claimed.id)
            gradings_in_progress.end(self._context.settings, claimed.id)

    def _queue_lost(self, session: Session, busy: Collection[str]) -> None:
        """Queue again the submissions that were claimed for this process and that it does not have.

        After an outage, the answer to the commit of a claim may be lost, or a standby that has
        taken over may lack an outcome. The attempt does not count.
        """
        held = submissions.claimed_by(session, self._context.instance)
        lost = [one for one, _, _ in held if one not in busy]
        submissions.requeue_claimed_by(
            session, self._context.instance, counts_attempt=False, only=lost
        )

    def _find_own_metrics(self, session: Session, claimed: list[ClaimRecord]) -> None:
        """Find which of these are graded by a metric.py: they have turns of their own."""
        self._context.own_metrics.among(session, {one.version_id for one in claimed})

    def _has_own_metric(self, claimed: ClaimRecord) -> bool:
        return self._context.own_metrics.known_to_have(claimed.version_id)


def _count(writing: Future[SubmissionState | None]) -> None:
    if writing.exception() is None:
        state = writing.result()
        if state is not None and state.is_settled:
            SETTLED.labels(state.value).inc()
