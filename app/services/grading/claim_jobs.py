"""Claim the submissions of delivered jobs, unless another job has claimed them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.queue import jobs
from app.services.runtime.environment import refusal, this_environment
from app.storage.database import notify
from app.storage.database.records import ClaimRecord, SettledRecord
from app.storage.queries import claims, submissions
from app.storage.queries.claims import ClaimCandidate
from app.storage.queries.operation import environments, faults


@dataclass(frozen=True, slots=True)
class DeliveredJob:
    """A job that the queue delivered for a submission. Every delivery has a new `token`."""

    job: int
    submission: str
    token: str

    @property
    def claimant(self) -> str:
        """The name under which this delivery claims the submission."""
        return f"{self.job}:{self.token}"


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """The result of a delivery: a claim to grade, or the submission's state, which ends the job.

    Neither if another job has claimed the submission, or if the submission does not exist.
    """

    claim: ClaimRecord | None
    state: SubmissionState | None = None


def delivered_job(job: int, submission: str) -> DeliveredJob:
    """A new delivery of a job."""
    return DeliveredJob(job, submission, uuid4().hex)


def claim_jobs(
    session: Session, delivered: list[DeliveredJob], *, max_attempts: int
) -> list[ClaimedJob | Exception]:
    """Claim the submissions of deliveries, unless they are settled or another job has them.

    If a delivery has its claim already, it gets it again: the answer to that commit was lost.

    The queue delivers a job again when its worker died or sent no heartbeat for too long. The new
    delivery then claims the submission again, and the lost attempt counts, so that a file that
    kills its worker is not tried for ever. After the last attempt the submission is `failed`.

    Every result is OtherEnvironment if this process may not grade in this database.
    """
    agreed = environments.current(session)
    if agreed is None or agreed[0] != this_environment():
        required = agreed or (this_environment(), environments.database_now(session))
        return [refusal(*required)] * len(delivered)
    last = {delivery.submission: delivery for delivery in delivered}
    found = claims.find_for_claim(
        session, {delivery.submission: delivery.claimant for delivery in last.values()}
    )
    alive = jobs.living(session, {f.holder for f in found.values() if f.holder is not None})
    claimed: dict[str, ClaimedJob] = {}
    for delivery in last.values():
        claimed[delivery.submission] = _claim_one(
            session, found.get(delivery.submission), delivery, alive, max_attempts
        )
    new = [one for one in claimed.values() if one.claim and not found[one.claim.id].is_made]
    claims.claim(session, [one.claim for one in new if one.claim is not None])
    _settle_lost(session, [f for f in found.values() if _has_failed(claimed[f.claim.id], f)])
    notify.publish(session, {f.claim.run_id for f in found.values()})
    return [
        claimed[delivery.submission] if last[delivery.submission] is delivery else ClaimedJob(None)
        for delivery in delivered
    ]


def _claim_one(
    session: Session,
    found: ClaimCandidate | None,
    delivery: DeliveredJob,
    alive: set[int],
    max_attempts: int,
) -> ClaimedJob:
    if found is None or found.state.is_settled:
        return ClaimedJob(None, found.state if found else None)
    if found.state is SubmissionState.GRADING and not found.is_made:
        if found.holder != delivery.job and found.holder in alive:
            return ClaimedJob(None)  # the other job grades it
        now = environments.database_now(session)
        faults.add_fault(
            session, delivery.submission, found.claim.attempts - 1, "worker_lost", "", now
        )
        if found.claim.attempts > max_attempts:
            return ClaimedJob(None, SubmissionState.FAILED)
    return ClaimedJob(found.claim)


def _has_failed(claimed: ClaimedJob, found: ClaimCandidate) -> bool:
    return claimed.state is SubmissionState.FAILED and not found.state.is_settled


def _settle_lost(session: Session, lost: list[ClaimCandidate]) -> None:
    if not lost:
        return
    now = environments.database_now(session)
    submissions.settle_all(
        session,
        [
            SettledRecord(
                id=candidate.claim.id, state=SubmissionState.FAILED, problem=None, warnings=[],
                settled_at=now,
            )
            for candidate in lost
        ],
    )  # fmt: skip
    notify.publish(session, [candidate.claim.id for candidate in lost])
