"""The batch through which submissions enter the database: many at once, each by the run's rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.errors import IdempotencyMismatch, PodiumError
from app.services.runtime.run_limits import no_run, refuse_closed, refuse_over_quota
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import runs, submissions


@dataclass(frozen=True, slots=True)
class InsertedSubmission:
    """A stored submission, and whether this request stored it."""

    submission: SubmissionRecord
    created: bool


class _InsertBatch:
    """One group of submissions: what its runs allow, and what the group itself has used up."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs: dict[str, RunRecord | None] = {}
        self._keys: dict[tuple[str, str], SubmissionRecord] = {}
        self._accepted: Counter[str] = Counter()
        self.new: list[SubmissionRecord] = []

    def add(self, offered: SubmissionRecord) -> InsertedSubmission:
        """Let a submission in, or find the one that its Idempotency-Key stands for.

        Raises:
            RunClosed, QuotaExceeded, IdempotencyMismatch: it is not let in.
        """
        known = self._known(offered)
        if known is not None:
            if known.sha256 != offered.sha256:
                raise IdempotencyMismatch(
                    f"This Idempotency-Key already came with other bytes ({known.id}). "
                    "Send a new key with a new file."
                )
            return InsertedSubmission(known, created=False)
        run = self._run(offered.run_id)
        if run is None:
            raise no_run(offered.run_id)
        refuse_closed(run, offered.received_at)
        refuse_over_quota(self._session, run, offered.received_at, accepted=self._accepted[run.id])
        self._accepted[run.id] += 1
        if offered.idempotency_key is not None:
            self._keys[run.id, offered.idempotency_key] = offered
        self.new.append(offered)
        return InsertedSubmission(offered, created=True)

    def _run(self, run_id: str) -> RunRecord | None:
        if run_id not in self._runs:
            self._runs[run_id] = runs.lock_run(self._session, run_id)
        return self._runs[run_id]

    def _known(self, offered: SubmissionRecord) -> SubmissionRecord | None:
        if offered.idempotency_key is None:
            return None
        self._run(offered.run_id)  # locks the run: two servers do not look for one key at once
        here = self._keys.get((offered.run_id, offered.idempotency_key))
        return here or submissions.by_idempotency_key(
            self._session, offered.run_id, offered.idempotency_key
        )


def insert_submissions(
    session: Session,
    offered: list[SubmissionRecord],
    *,
    defer: Callable[[Session, list[SubmissionRecord]], None] | None = None,
) -> list[InsertedSubmission | Exception]:
    """Store submissions, in their order; the error in the place of one that is refused.

    `defer` queues those that were stored, in the same transaction: where one is, the other is.
    """
    batch = _InsertBatch(session)
    outcomes: list[InsertedSubmission | Exception] = []
    for one in offered:
        try:
            outcomes.append(batch.add(one))
        except PodiumError as refusal:
            outcomes.append(refusal)
    submissions.add_submissions(session, batch.new)
    if defer is not None:
        defer(session, batch.new)
    return outcomes
