"""Decisions about runs. The last one holds; those before stay readable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, insert, or_, select, update
from sqlalchemy.orm import Session

from app.domain.states import ReviewDecision
from app.storage.database.models import Run
from app.storage.database.rows import record, values
from app.storage.database.tables.reviews import RunReview

TABLE = RunReview.__table__
RUN = Run.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """A decision about a run; `decided_by` is the id of a key, None for a command on the server."""

    id: int | None = None
    run_id: str
    decision: ReviewDecision
    reason: str
    decided_by: str | None
    at: datetime
    superseded_at: datetime | None = None


def add(session: Session, new: ReviewRecord) -> None:
    """Store a decision; the one before ends at its time."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.run_id == new.run_id, TABLE.c.superseded_at.is_(None))
        .values(superseded_at=new.at)
    )
    row = values(new)
    del row["id"]
    session.execute(insert(TABLE), row)


def of_run(session: Session, run: str) -> list[ReviewRecord]:
    """A run's decisions, oldest first."""
    query = select(TABLE).where(TABLE.c.run_id == run).order_by(TABLE.c.id)
    return [record(ReviewRecord, row) for row in session.execute(query)]


def current(session: Session, run: str) -> ReviewRecord | None:
    """The decision about a run that holds now."""
    return next((one for one in of_run(session, run) if one.superseded_at is None), None)


def is_excluded(as_of: datetime | None = None) -> ColumnElement[bool]:
    """The condition on a row of `run` that a decision excludes it, now or at a time."""
    return RUN.c.id.in_(select(TABLE.c.run_id).where(*_holds(as_of)))


def excluded_ids(session: Session) -> tuple[str, ...]:
    """The ids of the runs that are excluded now."""
    query = select(TABLE.c.run_id).where(*_holds(None)).order_by(TABLE.c.run_id)
    return tuple(session.execute(query).scalars())


def _holds(as_of: datetime | None) -> list[Any]:
    excludes: list[Any] = [TABLE.c.decision == ReviewDecision.EXCLUDE]
    if as_of is None:
        return [*excludes, TABLE.c.superseded_at.is_(None)]
    still = or_(TABLE.c.superseded_at.is_(None), TABLE.c.superseded_at > as_of)
    return [*excludes, TABLE.c.at <= as_of, still]
