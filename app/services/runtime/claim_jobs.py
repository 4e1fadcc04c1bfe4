"""What the queue delivers: take a submission for a job, or see that it is in other hands."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.queue import jobs
from app.services.runtime.environment import refusal, this_environment
from app.storage.database import notify
from app.storage.database.records import ClaimRecord, SettledRecord, SubmissionRecord
from app.storage.queries import claims, environments, faults, submissions
from app.storage.queries.claims import ClaimCandidate


@dataclass(frozen=True, slots=True)
class DeliveredJob:
    """A job that was delivered for a submission. `token` is new each time."""

    job: int
    submission: str
    token: str

    @property
    def claimant(self) -> str:
        """Who takes the submission by this delivery."""
        return f"{self.job}:{self.token}"


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """What came of a delivery: a claim to be graded, or the state that ends the job."""

    claim: ClaimRecord | None
    state: SubmissionState | None = None


def delivered_job(job: int, submission: str) -> DeliveredJob:
    """A new delivery."""
    return DeliveredJob(job, submission, uuid4().hex)


def defer(session: Session, stored: list[SubmissionRecord]) -> None:
    """Queue what was just stored, in the transaction that stores it."""
    jobs.defer(session, ((one.id, one.bytes) for one in stored))


def claim(
    session: Session, delivered: list[DeliveredJob], *, max_attempts: int
) -> list[ClaimedJob | Exception]:
    """Claim the submissions of deliveries, unless they are settled or in another job's hands.

    A submission that this very job's earlier delivery had is taken over: the queue delivers a job
    again when its worker died or was silent for too long. That attempt counts, for what kills its
    worker must not do so for ever; after the last one the submission is `failed`.

    Returns OtherEnvironment in each place when something else than this process grades here.
    """
    agreed = environments.current(session)
    if agreed is None or agreed[0] != this_environment():
        there = agreed or (this_environment(), environments.database_now(session))
        return [refusal(*there)] * len(delivered)
    last = {one.submission: one for one in delivered}
    found = claims.find_for_claim(session, {one.submission: one.claimant for one in last.values()})
    alive = jobs.living(session, {f.holder for f in found.values() if f.holder is not None})
    taken: dict[str, ClaimedJob] = {}
    for one in last.values():
        taken[one.submission] = _taken(session, found.get(one.submission), one, alive, max_attempts)
    claims.claim(session, [each.claim for each in taken.values() if each.claim is not None])
    _settle_lost(session, [f for f in found.values() if _is_spent(taken[f.claim.id], f)])
    notify.publish(session, {f.claim.run_id for f in found.values()})
    return [
        taken[one.submission] if last[one.submission] is one else ClaimedJob(None)
        for one in delivered
    ]


def _taken(
    session: Session,
    found: ClaimCandidate | None,
    one: DeliveredJob,
    alive: set[int],
    max_attempts: int,
) -> ClaimedJob:
    if found is None or found.state.is_settled:
        return ClaimedJob(None, found.state if found else None)
    if found.state is SubmissionState.GRADING:
        if found.holder != one.job and found.holder in alive:
            return ClaimedJob(None)  # the other job will see to it
        now = environments.database_now(session)
        faults.add_fault(session, one.submission, found.claim.attempts - 1, "worker_lost", "", now)
        if found.claim.attempts > max_attempts:
            return ClaimedJob(None, SubmissionState.FAILED)
    return ClaimedJob(found.claim)


def _is_spent(taken: ClaimedJob, found: ClaimCandidate) -> bool:
    return taken.state is SubmissionState.FAILED and not found.state.is_settled


def _settle_lost(session: Session, lost: list[ClaimCandidate]) -> None:
    if not lost:
        return
    now = environments.database_now(session)
    submissions.settle_all(
        session,
        [
            SettledRecord(
                id=one.claim.id, state=SubmissionState.FAILED, problem=None, warnings=[],
                settled_at=now,
            )
            for one in lost
        ],
    )  # fmt: skip
    notify.publish(session, [one.claim.id for one in lost])
