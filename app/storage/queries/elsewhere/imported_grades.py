"""Imported grades. A stored grade is never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.storage.database.models import Run
from app.storage.database.rows import record, values
from app.storage.database.tables.results_elsewhere import ImportedGrade

TABLE = ImportedGrade.__table__
RUN = Run.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedGradeRecord:
    """The result that another grader reported for an experiment, a competition and a seed.

    `document` is the unchanged entry of the report; `source` is its run group, if any.
    """

    id: int | None = None
    experiment: str
    competition: str
    seed: int
    made: bool
    valid: bool
    score: float | None
    medal: str | None
    above_median: bool
    source: str
    document: dict[str, Any]
    imported_at: datetime


def add(session: Session, grades: Sequence[ImportedGradeRecord]) -> None:
    """Store imported grades.

    Raises:
        IntegrityError: the experiment does not exist, or has one for that competition and seed.
    """
    rows = [values(grade) for grade in grades]
    for row in rows:
        del row["id"]
    if rows:
        session.execute(insert(TABLE), rows)


def of_experiment(
    session: Session, experiment: str, seed: int | None = None
) -> list[ImportedGradeRecord]:
    """The experiment's imported grades, of one seed or of all, in the order of their import."""
    query = select(TABLE).where(TABLE.c.experiment == experiment).order_by(TABLE.c.id)
    if seed is not None:
        query = query.where(TABLE.c.seed == seed)
    return [record(ImportedGradeRecord, row) for row in session.execute(query)]


def has(session: Session, experiment: str, competition: str, seed: int) -> bool:
    """Whether the experiment has an imported grade for this competition and seed."""
    query = select(TABLE.c.id).where(
        TABLE.c.experiment == experiment,
        TABLE.c.competition == competition,
        TABLE.c.seed == seed,
    )
    return session.execute(query).first() is not None


def run_keys(session: Session, experiment: str) -> set[tuple[str, int]]:
    """The pairs (competition, seed) of the experiment's runs."""
    query = select(RUN.c.competition, RUN.c.seed).where(RUN.c.experiment == experiment)
    return {(competition, seed) for competition, seed in session.execute(query)}
