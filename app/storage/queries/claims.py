"""Claims on submissions that the queue delivers, and the check that a claim is still valid.

`claimed_by` is `<job>:<token>`: the job that claimed the submission, and a token that is new for
each delivery. An outcome is written only if both still match. So the outcome of a worker that was
presumed dead, or was frozen, is dropped after another worker has claimed the submission.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database.models import Run, Submission
from app.storage.database.records import ClaimRecord

TABLE = Submission.__table__
RUN = Run.__table__
IN_IDS = TABLE.c.id.in_(bindparam("ids", expanding=True))
IS_GRADING = TABLE.c.state == SubmissionState.GRADING
FIND = (
    select(
        TABLE.c.id, TABLE.c.run_id, TABLE.c.version_id, RUN.c.competition, TABLE.c.sha256,
        TABLE.c.attempts, TABLE.c.state, TABLE.c.claimed_by,
    )
    .join(RUN, RUN.c.id == TABLE.c.run_id)
    .where(IN_IDS)
    .order_by(TABLE.c.id)  # all processes lock in the same order, so that there is no deadlock
    .with_for_update(of=TABLE)
)  # fmt: skip
CLAIM = (
    update(TABLE)
    .where(TABLE.c.id == bindparam("of"))
    .values(
        state=SubmissionState.GRADING,
        attempts=TABLE.c.attempts + 1,
        claimed_by=bindparam("claimant"),
        claimed_at=func.now(),  # the database's clock
    )
)
CLAIMED = (
    select(TABLE.c.id, TABLE.c.claimed_by, TABLE.c.attempts)
    .where(IN_IDS, IS_GRADING)
    .order_by(TABLE.c.id)
    .with_for_update()
)
GIVE_BACK = (
    update(TABLE)
    .where(TABLE.c.id == bindparam("of"), IS_GRADING, TABLE.c.claimed_by == bindparam("claimant"))
    .values(
        state=SubmissionState.QUEUED,
        attempts=TABLE.c.attempts - 1,
        claimed_by=None,
        claimed_at=None,
    )
)


@dataclass(frozen=True, slots=True)
class ClaimCandidate:
    """The submission of a job: the claim to make, the submission's state, and its present holder.

    `holder` is the number of the job that has claimed the submission, or None. `is_made` says that
    this claim exists already, because the answer to its commit was lost.
    """

    claim: ClaimRecord
    state: SubmissionState
    holder: int | None
    is_made: bool


def find_for_claim(session: Session, claimants: dict[str, str]) -> dict[str, ClaimCandidate]:
    """Lock the submissions with these ids. Returns each with the claim for its claimant."""
    found = {}
    for row in session.execute(FIND, {"ids": sorted(claimants)}):
        is_made = row.state is SubmissionState.GRADING and row.claimed_by == claimants[row.id]
        attempts = row.attempts if is_made else row.attempts + 1
        claim = ClaimRecord(
            id=row.id, run_id=row.run_id, version_id=row.version_id, competition=row.competition,
            sha256=row.sha256, attempts=attempts, claimed_by=claimants[row.id],
        )  # fmt: skip
        found[row.id] = ClaimCandidate(claim, row.state, _job_of(row.claimed_by), is_made)
    return found


def claim(session: Session, claims: Sequence[ClaimRecord]) -> None:
    """Write these claims. They replace any earlier claim on the same submissions."""
    if claims:
        session.execute(CLAIM, [{"of": one.id, "claimant": one.claimed_by} for one in claims])


def still_valid(session: Session, claims: Sequence[ClaimRecord]) -> list[bool]:
    """Whether each of these claims is still valid. Locks their submissions."""
    rows = session.execute(CLAIMED, {"ids": sorted({one.id for one in claims})})
    valid = {tuple(row) for row in rows}
    return [(one.id, one.claimed_by, one.attempts) in valid for one in claims]


def give_back(session: Session, submission_id: str, claimant: str) -> None:
    """Queue a submission again without counting the attempt, if the claim is still valid."""
    session.execute(GIVE_BACK, {"of": submission_id, "claimant": claimant})


def _job_of(claimed_by: str | None) -> int | None:
    job, separator, _ = (claimed_by or "").partition(":")
    return int(job) if separator and job.isdigit() else None
