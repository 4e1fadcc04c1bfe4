"""Insert many submissions in one transaction, after checking each run's limits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.errors import PodiumError
from app.queue import jobs
from app.services.runtime.failure_quota import FailureQuota
from app.services.runtime.own_metrics import OwnMetrics
from app.services.runtime.run_limits import (
    no_run,
    refuse_closed,
    refuse_other_file,
    refuse_over_quota,
)
from app.storage.database.records import SubmissionRecord
from app.storage.queries import runs, submission_counts, submissions


@dataclass(frozen=True, slots=True)
class InsertedSubmission:
    """A stored submission, and whether this request stored it."""

    submission: SubmissionRecord
    created: bool


class _InsertBatch:
    """One group of submissions, checked against the limits of their runs."""

    def __init__(
        self,
        session: Session,
        step: float,
        failures: FailureQuota | None,
        versions_of_runs: dict[str, int],
        now: datetime,
        *,
        may_be_stored: bool,
    ) -> None:
        self._session = session
        self._may_be_stored = may_be_stored
        self._step = step
        self._failures = failures
        self._runs = runs.lock_runs(session, versions_of_runs)
        self._bounded = set[str]()
        if failures is not None:
            self._bounded = failures.bounded(session, self._runs.values(), now)
        self._keys: dict[tuple[str, str], SubmissionRecord] = {}
        self._accepted: Counter[str] = Counter()
        self.new: list[SubmissionRecord] = []

    def add(self, incoming: SubmissionRecord) -> InsertedSubmission:
        """Accept a submission, or return the one that was stored with its Idempotency-Key.

        Raises:
            NotFound: the run does not exist.
            RunClosed, QuotaExceeded, TooManyFailures: the run may send no more.
            IdempotencyMismatch: the key was sent before, with another file.
        """
        if self._may_be_stored:
            stored = submissions.get_submission(self._session, incoming.id)
            if stored is not None:
                as_stored = replace(incoming, run_seconds=stored[0].run_seconds)
                return InsertedSubmission(as_stored, created=True)
        known = self._known(incoming)
        if known is not None:
            refuse_other_file(known, incoming.sha256)
            return InsertedSubmission(known, created=False)
        run = self._runs.get(incoming.run_id)
        if run is None:
            raise no_run(incoming.run_id)
        refuse_closed(run, incoming.received_at)
        refuse_over_quota(
            self._session,
            run,
            incoming.received_at,
            accepted=self._accepted[run.id],
            step=self._step,
        )
        if self._failures is not None and run.id in self._bounded:
            accepted = self._accepted[run.id]
            self._failures.refuse(self._session, run, incoming.received_at, accepted=accepted)
        self._accepted[run.id] += 1
        if run.started_at is None:  # a researcher may submit before the run's key was used
            runs.start_clocks(self._session, [run.id], incoming.received_at)
            run = self._runs[run.id] = replace(run, started_at=incoming.received_at)
        seconds = (incoming.received_at - (run.started_at or run.created_at)).total_seconds()
        incoming = replace(incoming, run_seconds=max(0.0, seconds))
        if incoming.idempotency_key is not None:
            self._keys[run.id, incoming.idempotency_key] = incoming
        self.new.append(incoming)
        return InsertedSubmission(incoming, created=True)

    def _known(self, incoming: SubmissionRecord) -> SubmissionRecord | None:
        if incoming.idempotency_key is None:
            return None
        # The run is locked: no other server handles the same key now.
        in_group = self._keys.get((incoming.run_id, incoming.idempotency_key))
        return in_group or submissions.by_idempotency_key(
            self._session, incoming.run_id, incoming.idempotency_key
        )


def insert_submissions(
    session: Session,
    incoming: list[SubmissionRecord],
    *,
    queues: bool = False,
    step: float = 0.0,
    failures: FailureQuota | None = None,
    own_metrics: OwnMetrics | None = None,
    may_be_stored: bool = False,
) -> list[InsertedSubmission | Exception]:
    """Store submissions in their order. The result for a refused one is its error.

    With `queues` they are queued in the same transaction, so that no submission is stored without a
    job, and `own_metrics` says which ones need a metric.py. `step` is PODIUM_OUTCOME_STEP_SECONDS.
    Without `failures` no file is refused for the failures of its run. `may_be_stored` says that
    this was tried before, and that the answer to the commit may have been lost: submissions that
    are stored already are not stored again.
    """
    versions = {one.run_id: one.version_id for one in incoming}
    now = max((one.received_at for one in incoming), default=datetime.now(UTC))
    batch = _InsertBatch(session, step, failures, versions, now, may_be_stored=may_be_stored)
    outcomes: list[InsertedSubmission | Exception] = []
    for one in incoming:
        try:
            outcomes.append(batch.add(one))
        except PodiumError as refusal:
            outcomes.append(refusal)
    if queues:
        _defer(session, batch.new, own_metrics or OwnMetrics())
    submissions.add_submissions(session, batch.new)
    return outcomes


def _defer(session: Session, new: list[SubmissionRecord], own_metrics: OwnMetrics) -> None:
    """Queue jobs for submissions, each after those of its run that are not settled yet."""
    if not new:
        return
    behind = submission_counts.open_of_runs(session, {one.run_id for one in new})
    wanted = []
    for one in new:
        wanted.append((one.id, one.bytes, behind[one.run_id]))
        behind[one.run_id] += 1
    own = own_metrics.among(session, {one.version_id for one in new})
    jobs.defer(session, wanted, {one.id for one in new if one.version_id in own})
