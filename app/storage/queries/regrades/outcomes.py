"""Outcomes of regrades for submissions: the work of a regrade, its claims and its progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, or_, select, true, update
from sqlalchemy.orm import Session

from app.domain.states import RegradeState, SubmissionState
from app.storage.database.models import Submission
from app.storage.database.rows import values
from app.storage.database.tables.regrades import Regrade, RegradeOutcome

TABLE = RegradeOutcome.__table__
REGRADE = Regrade.__table__
SUBMISSION = Submission.__table__
IS_QUEUED = TABLE.c.state == SubmissionState.QUEUED
IS_IN_FORCE = (REGRADE.c.state == RegradeState.APPLIED, REGRADE.c.superseded_at.is_(None))
IS_THIS = TABLE.c.regrade_id == bindparam("of_regrade")
SETTLE = update(TABLE).where(
    IS_THIS, TABLE.c.submission_id == bindparam("of_submission"), IS_QUEUED
)

Names = Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRegrading:
    """The submission `id` that is to be graded again; `attempts` includes this attempt."""

    regrade_id: str
    id: str
    version_id: int
    competition: str
    sha256: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRecord:
    """A settled outcome: the columns that are written when a submission was graded again."""

    state: SubmissionState
    score: float | None = None
    public_score: float | None = None
    search_score: float | None = None
    better: int | None = None
    equal: int | None = None
    worse: int | None = None
    teams: int | None = None
    percentile: float | None = None
    above_median: bool | None = None
    medal: str | None = None
    grader: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    warnings: list[dict[str, Any]] | None = None
    fault: str | None = None
    place: str | None = None
    graded_at: datetime


def in_force_for(session: Session, submission_id: str) -> tuple[str, int, OutcomeRecord] | None:
    """The regrade in force for a submission, with the version and the outcome.

    None if the first grade counts.
    """
    return _outcome(session, submission_id, *IS_IN_FORCE)


def in_force_for_run(session: Session, run_id: str) -> str | None:
    """The regrade in force that graded submissions of a run again; None if none did."""
    query = (
        select(REGRADE.c.id)
        .join(TABLE, TABLE.c.regrade_id == REGRADE.c.id)
        .join(SUBMISSION, SUBMISSION.c.id == TABLE.c.submission_id)
        .where(SUBMISSION.c.run_id == run_id, ~IS_QUEUED, *IS_IN_FORCE)
        .limit(1)
    )
    found: str | None = session.execute(query).scalar_one_or_none()
    return found


def given_by(
    session: Session, regrade_id: str, submission_id: str
) -> tuple[str, int, OutcomeRecord] | None:
    """The outcome of a regrade for a submission, in force or not."""
    return _outcome(session, submission_id, TABLE.c.regrade_id == regrade_id)


def _outcome(
    session: Session, submission_id: str, *conditions: ColumnElement[bool]
) -> tuple[str, int, OutcomeRecord] | None:
    names = [field.name for field in fields(OutcomeRecord)]
    query = (
        select(TABLE.c.regrade_id, TABLE.c.version_id, *(TABLE.c[name] for name in names))
        .join(REGRADE, REGRADE.c.id == TABLE.c.regrade_id)
        .where(TABLE.c.submission_id == submission_id, ~IS_QUEUED, *conditions)
    )
    row = session.execute(query).mappings().one_or_none()
    if row is None:
        return None
    outcome = OutcomeRecord(**{name: row[name] for name in names})
    return row["regrade_id"], row["version_id"], outcome


def claimants(session: Session, regrade_id: str) -> list[str]:
    """The servers that began to grade submissions of a regrade which have no outcome yet."""
    mine = (TABLE.c.regrade_id == regrade_id, IS_QUEUED, TABLE.c.attempts > 0)
    query = select(TABLE.c.claimed_by).where(*mine, TABLE.c.claimed_by.is_not(None)).distinct()
    return list(session.execute(query).scalars())


def queued(session: Session, regrade_id: str, limit: int, *, of: Names = None) -> list[str]:
    """The next submissions of a regrade to be graded, those with the fewest attempts first.

    With `of` only those that no server has claimed, or one of these.
    """
    query = (
        select(TABLE.c.submission_id)
        .where(TABLE.c.regrade_id == regrade_id, IS_QUEUED, _claimed_by(of))
        .order_by(TABLE.c.attempts, TABLE.c.submission_id)
        .limit(limit)
    )
    return list(session.execute(query).scalars())


def _claimed_by(of: Names) -> ColumnElement[bool]:
    claimant = TABLE.c.claimed_by
    return true() if of is None else or_(claimant.is_(None), claimant.in_(of))


def begin(
    session: Session, regrade_id: str, submission_ids: Sequence[str], *, of: Names = None
) -> list[ClaimedRegrading]:
    """Count an attempt for those of the submissions that are to be graded, and return them.

    With `of` only those that no server, or one of these servers, has claimed; then the first of
    these servers has them.
    """
    mine = (TABLE.c.regrade_id == regrade_id, TABLE.c.submission_id.in_(submission_ids), IS_QUEUED)
    query = (
        select(
            TABLE.c.regrade_id,
            TABLE.c.submission_id.label("id"),
            TABLE.c.version_id,
            REGRADE.c.competition,
            SUBMISSION.c.sha256,
            (TABLE.c.attempts + 1).label("attempts"),
        )
        .join(REGRADE, REGRADE.c.id == TABLE.c.regrade_id)
        .join(SUBMISSION, SUBMISSION.c.id == TABLE.c.submission_id)
        .where(*mine, _claimed_by(of), REGRADE.c.state == RegradeState.RUNNING)
        .order_by(TABLE.c.submission_id)
        .with_for_update(of=TABLE)
    )
    found = [ClaimedRegrading(**row) for row in session.execute(query).mappings()]
    if found:
        locked = (mine[0], TABLE.c.submission_id.in_([one.id for one in found]))
        new = {"attempts": TABLE.c.attempts + 1, "claimed_by": of[0] if of else None}
        session.execute(update(TABLE).where(*locked).values(new))
    return found


def give_back(session: Session, claimed: ClaimedRegrading) -> None:
    """Undo the count of an attempt without an outcome. A second call changes nothing."""
    session.execute(
        update(TABLE)
        .where(
            TABLE.c.regrade_id == claimed.regrade_id,
            TABLE.c.submission_id == claimed.id,
            TABLE.c.attempts == claimed.attempts,
            IS_QUEUED,
        )
        .values(attempts=TABLE.c.attempts - 1, claimed_by=None)
    )


def settle(session: Session, regrade_id: str, submission_id: str, outcome: OutcomeRecord) -> bool:
    """Write an outcome, unless the submission has one. Returns whether it was written."""
    of = {"of_regrade": regrade_id, "of_submission": submission_id}
    result: Any = session.execute(SETTLE, {**values(outcome), **of})
    return int(result.rowcount) == 1


def progress(session: Session, regrade_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many submissions of each regrade are in each state; zeros are absent."""
    query = (
        select(TABLE.c.regrade_id, TABLE.c.state, func.count())
        .where(TABLE.c.regrade_id.in_(regrade_ids))
        .group_by(TABLE.c.regrade_id, TABLE.c.state)
    )
    found: dict[str, dict[str, int]] = {each: {} for each in regrade_ids}
    for regrade_id, state, count in session.execute(query):
        found[regrade_id][state.value] = count
    return found
