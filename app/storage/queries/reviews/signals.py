"""Signals of submissions, and the queue of runs that have some."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from app.domain.states import ReviewDecision
from app.review.signals import Level, Signal
from app.storage.database.models import Run
from app.storage.database.rows import insert_all_if_new, record, values
from app.storage.database.tables.reviews import ReviewSignal, RunReview

TABLE = ReviewSignal.__table__
RUN = Run.__table__
REVIEW = RunReview.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRecord:
    """A signal of a submission. `other_run` is the run that it resembles, if it does."""

    id: int | None = None
    submission_id: str
    run_id: str
    signal: Signal
    level: Level
    other_run: str | None
    detail: dict[str, Any]
    at: datetime


class QueuedRun(NamedTuple):
    """A run with signals: `to_review` of them have that level, `last` is the id of the latest.

    `decision` is that in force. It is None if nobody has decided, or if a signal came after the
    decision.
    """

    run: str
    experiment: str
    competition: str
    seed: int
    to_review: int
    last: int
    last_at: datetime
    decision: ReviewDecision | None
    decided_at: datetime | None


def add_all(session: Session, added: Sequence[SignalRecord]) -> None:
    """Store signals; a run keeps the first of each kind and level."""
    rows = [values(one) for one in added]
    for row in rows:
        del row["id"]
    insert_all_if_new(session, TABLE, ("run_id", "signal", "level"), rows)


def of_run(session: Session, run: str) -> list[SignalRecord]:
    """A run's signals, oldest first."""
    query = select(TABLE).where(TABLE.c.run_id == run).order_by(TABLE.c.id)
    return [record(SignalRecord, row) for row in session.execute(query)]


def of_runs(session: Session, runs: Sequence[str]) -> dict[str, list[SignalRecord]]:
    """The signals of these runs, oldest first."""
    query = select(TABLE).where(TABLE.c.run_id.in_(list(runs))).order_by(TABLE.c.id)
    found: dict[str, list[SignalRecord]] = {run: [] for run in runs}
    for row in session.execute(query):
        one = record(SignalRecord, row)
        found[one.run_id].append(one)
    return found


def runs_with(session: Session, runs: Collection[str], signal: Signal) -> set[str]:
    """The runs among these that have a signal of this kind."""
    query = select(TABLE.c.run_id).where(TABLE.c.run_id.in_(list(runs)), TABLE.c.signal == signal)
    return set(session.execute(query).scalars())


def queue(
    session: Session,
    *,
    is_open: bool | None,
    level: Level | None,
    signal: Signal | None,
    experiment: str | None,
    competition: str | None,
    before: int | None,
    limit: int | None,
) -> list[QueuedRun]:
    """Runs with signals, latest signal first, before the one with this id.

    `is_open` asks for those that are still to be decided, or for those that are decided, `level`
    and `signal` for those with such a signal; all their signals count for what is said of them.
    """
    kinds: list[ColumnElement[bool]] = []
    if signal is not None:
        kinds.append(TABLE.c.signal == signal)
    if level is not None:
        kinds.append(TABLE.c.level == level)
    totals = (
        select(
            TABLE.c.run_id,
            func.sum(case((TABLE.c.level == Level.REVIEW, 1), else_=0)).label("to_review"),
            func.max(TABLE.c.id).label("last"),
            func.max(TABLE.c.at).label("last_at"),
        )
        .group_by(TABLE.c.run_id)
        .subquery()
    )
    decided = REVIEW.c.at >= totals.c.last_at
    query = (
        select(
            RUN.c.id,
            RUN.c.experiment,
            RUN.c.competition,
            RUN.c.seed,
            totals.c.to_review,
            totals.c.last,
            totals.c.last_at,
            case((decided, REVIEW.c.decision), else_=None).label("decision"),
            case((decided, REVIEW.c.at), else_=None).label("decided_at"),
        )
        .select_from(totals)
        .join(RUN, RUN.c.id == totals.c.run_id)
        .join(
            REVIEW,
            (REVIEW.c.run_id == RUN.c.id) & REVIEW.c.superseded_at.is_(None),
            isouter=True,
        )
        .order_by(totals.c.last.desc())
        .limit(limit)
    )
    if is_open is not None:
        still = REVIEW.c.id.is_(None) | (REVIEW.c.at < totals.c.last_at)
        query = query.where(still if is_open else ~still)
    if kinds:
        query = query.where(RUN.c.id.in_(select(TABLE.c.run_id).where(*kinds)))
    if experiment is not None:
        query = query.where(RUN.c.experiment == experiment)
    if competition is not None:
        query = query.where(RUN.c.competition == competition)
    if before is not None:
        query = query.where(totals.c.last < before)
    return [QueuedRun._make(row) for row in session.execute(query)]
