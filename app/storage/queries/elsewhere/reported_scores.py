"""Scores that harnesses measured. A stored score is never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from app.domain.states import ReportedScoreKind
from app.storage.database.models import Run
from app.storage.database.rows import record, values
from app.storage.database.tables.results_elsewhere import ReportedScore

TABLE = ReportedScore.__table__
RUN = Run.__table__
# Without evidence, which results do not need: a run may have hundreds of megabytes of it.
EVIDENCE = list(TABLE.c).index(TABLE.c.evidence)
WITHOUT_EVIDENCE = [each for each in TABLE.c if each is not TABLE.c.evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedScoreRecord:
    """A score that a harness measured, and its evidence. `id` is None until it is stored.

    `step` and `run_seconds` are its position in the run, if given. The last score marked `final` is
    the run's result. `reported_by` is the id of the key.
    """

    id: int | None = None
    run_id: str
    kind: ReportedScoreKind
    score: float
    step: int | None = None
    run_seconds: float | None = None
    final: bool
    evidence: dict[str, Any]
    reported_by: str | None = None
    reported_at: datetime


def add(session: Session, new: ReportedScoreRecord) -> ReportedScoreRecord:
    """Store a score. Returns it with its id.

    Raises:
        IntegrityError: the run does not exist.
    """
    row = session.execute(insert(TABLE).returning(TABLE), _row(new)).one()
    return record(ReportedScoreRecord, row)


def add_all(session: Session, records: Sequence[ReportedScoreRecord]) -> None:
    """Store scores, in this order.

    Raises:
        IntegrityError: a run does not exist.
    """
    if records:
        session.execute(insert(TABLE), [_row(each) for each in records])


def of_run(session: Session, run_id: str) -> list[ReportedScoreRecord]:
    """All scores reported for a run, in the order of their reports, without their evidence."""
    query = select(*WITHOUT_EVIDENCE).where(TABLE.c.run_id == run_id).order_by(TABLE.c.id)
    return [_brief(row) for row in session.execute(query)]


def like(session: Session, new: ReportedScoreRecord) -> ReportedScoreRecord | None:
    """The first score of the same run with the same value, position in the run and evidence."""
    query = select(TABLE).where(TABLE.c.run_id == new.run_id).order_by(TABLE.c.id)
    for name in ("score", "step", "run_seconds", "final"):
        query = query.where(TABLE.c[name].is_not_distinct_from(getattr(new, name)))
    found = (record(ReportedScoreRecord, row) for row in session.execute(query))
    return next((each for each in found if each.evidence == new.evidence), None)


def page(
    session: Session, run_id: str, *, after: int | None = None, limit: int
) -> list[ReportedScoreRecord]:
    """Scores reported for a run, oldest first, at most `limit` after the id `after`."""
    query = select(TABLE).where(TABLE.c.run_id == run_id).order_by(TABLE.c.id).limit(limit)
    if after is not None:
        query = query.where(TABLE.c.id > after)
    return [record(ReportedScoreRecord, row) for row in session.execute(query)]


def counts(session: Session, run_ids: Sequence[str]) -> dict[str, int]:
    """The number of scores reported for each of these runs. A run without scores is absent."""
    query = (
        select(TABLE.c.run_id, func.count())
        .where(TABLE.c.run_id.in_(run_ids))
        .group_by(TABLE.c.run_id)
    )
    return {run_id: int(count) for run_id, count in session.execute(query)}


def of_runs_in(
    session: Session, *, experiment: str | None = None, competition: str | None = None
) -> dict[str, list[ReportedScoreRecord]]:
    """The scores reported for the runs of an experiment or competition, by run; oldest first.

    They are without their evidence.
    """
    query = select(*WITHOUT_EVIDENCE).join(RUN, RUN.c.id == TABLE.c.run_id).order_by(TABLE.c.id)
    if experiment is not None:
        query = query.where(RUN.c.experiment == experiment)
    if competition is not None:
        query = query.where(RUN.c.competition == competition)
    found: dict[str, list[ReportedScoreRecord]] = {}
    for row in session.execute(query):
        one = _brief(row)
        found.setdefault(one.run_id, []).append(one)
    return found


def final_of(reported: Sequence[ReportedScoreRecord]) -> ReportedScoreRecord | None:
    """The final score of a run: the last reported score that is marked final."""
    return next((each for each in reversed(reported) if each.final), None)


def _brief(row: Sequence[Any]) -> ReportedScoreRecord:
    return record(ReportedScoreRecord, (*row[:EVIDENCE], {}, *row[EVIDENCE:]))


def _row(new: ReportedScoreRecord) -> dict[str, object]:
    row = values(new)
    del row["id"]
    row["sort"] = row.pop("kind")  # the column's name
    return row
