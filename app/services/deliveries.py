"""What the queue delivers: take a submission for a job, or see that it is in other hands."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.queue import jobs
from app.services.environment import refusal, this_environment
from app.storage import claims, environments, faults, news, submissions
from app.storage.claims import Found
from app.storage.records import ClaimRecord, SettledRecord, SubmissionRecord


@dataclass(frozen=True, slots=True)
class Delivery:
    """A job that was delivered for a submission. `token` is new each time."""

    job: int
    submission: str
    token: str

    @property
    def claimant(self) -> str:
        """Who takes the submission by this delivery."""
        return f"{self.job}:{self.token}"


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a delivery: a claim to be graded, or the state that ends the job."""

    claim: ClaimRecord | None
    state: SubmissionState | None = None


def delivery(job: int, submission: str) -> Delivery:
    """A new delivery."""
    return Delivery(job, submission, uuid4().hex)


def defer(session: Session, stored: list[SubmissionRecord]) -> None:
    """Queue what was just stored, in the transaction that stores it."""
    jobs.defer(session, ((one.id, one.bytes) for one in stored))


def take(
    session: Session, delivered: list[Delivery], *, max_attempts: int
) -> list[Taken | Exception]:
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
    taken: dict[str, Taken] = {}
    for one in last.values():
        taken[one.submission] = _taken(session, found.get(one.submission), one, alive, max_attempts)
    claims.take(session, [each.claim for each in taken.values() if each.claim is not None])
    _settle_lost(session, [f for f in found.values() if _is_spent(taken[f.claim.id], f)])
    news.publish(session, {f.claim.run_id for f in found.values()})
    return [
        taken[one.submission] if last[one.submission] is one else Taken(None) for one in delivered
    ]


def _taken(
    session: Session, found: Found | None, one: Delivery, alive: set[int], max_attempts: int
) -> Taken:
    if found is None or found.state.is_settled:
        return Taken(None, found.state if found else None)
    if found.state is SubmissionState.GRADING:
        if found.holder != one.job and found.holder in alive:
            return Taken(None)  # the other job will see to it
        now = environments.database_now(session)
        faults.add_fault(session, one.submission, found.claim.attempts - 1, "worker_lost", "", now)
        if found.claim.attempts > max_attempts:
            return Taken(None, SubmissionState.FAILED)
    return Taken(found.claim)


def _is_spent(taken: Taken, found: Found) -> bool:
    return taken.state is SubmissionState.FAILED and not found.state.is_settled


def _settle_lost(session: Session, lost: list[Found]) -> None:
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
    news.publish(session, [one.claim.id for one in lost])
