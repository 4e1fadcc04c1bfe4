"""Claims on submissions that a queue hands out one by one, and the check that one still holds.

`claimed_by` is `<job>:<token>`: the job under which a submission was taken, and a name that is
new each time. Whoever writes an outcome shows both, so what a worker writes that was taken for
dead, or was frozen, is dropped once another has the submission.
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
    .order_by(TABLE.c.id)  # locked in one order by all
    .with_for_update(of=TABLE)
)  # fmt: skip
TAKE = (
    update(TABLE)
    .where(TABLE.c.id == bindparam("of"))
    .values(
        state=SubmissionState.GRADING,
        attempts=TABLE.c.attempts + 1,
        claimed_by=bindparam("claimant"),
        claimed_at=func.now(),  # the database's clock
    )
)
HELD = (
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
    """A submission that a job is for: the claim it would be, its state, and who has it.

    `holder` is the number of the job under which it was taken; None where no job did.
    """

    claim: ClaimRecord
    state: SubmissionState
    holder: int | None


def find_for_claim(session: Session, claimants: dict[str, str]) -> dict[str, ClaimCandidate]:
    """The submissions of these ids, locked, with the claim that each would be for its claimant."""
    found = {}
    for row in session.execute(FIND, {"ids": sorted(claimants)}):
        claim = ClaimRecord(
            id=row.id, run_id=row.run_id, version_id=row.version_id, competition=row.competition,
            sha256=row.sha256, attempts=row.attempts + 1, claimed_by=claimants[row.id],
        )  # fmt: skip
        found[row.id] = ClaimCandidate(claim, row.state, _job_of(row.claimed_by))
    return found


def claim(session: Session, claims: Sequence[ClaimRecord]) -> None:
    """Make these claims hold, and no other claim on their submissions."""
    if claims:
        session.execute(TAKE, [{"of": one.id, "claimant": one.claimed_by} for one in claims])


def still_held(session: Session, claims: Sequence[ClaimRecord]) -> list[bool]:
    """Which of these claims hold still; their submissions are locked."""
    rows = session.execute(HELD, {"ids": sorted({one.id for one in claims})})
    held = {tuple(row) for row in rows}
    return [(one.id, one.claimed_by, one.attempts) in held for one in claims]


def give_back(session: Session, claim: ClaimRecord) -> None:
    """Queue a submission again without counting the attempt, if the claim holds still."""
    session.execute(GIVE_BACK, {"of": claim.id, "claimant": claim.claimed_by})


def _job_of(claimed_by: str | None) -> int | None:
    job, separator, _ = (claimed_by or "").partition(":")
    return int(job) if separator and job.isdigit() else None
