"""Amendments: the previous state of changed and withdrawn things. Rows are only added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from app.domain.states import AmendmentKind
from app.storage.database.models import Experiment, Run
from app.storage.database.rows import record, values
from app.storage.database.tables.acts import Amendment
from app.storage.database.tables.results_elsewhere import ImportedGrade
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord

TABLE = Amendment.__table__
EXPERIMENT = Experiment.__table__
IMPORTED = ImportedGrade.__table__
RUN = Run.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendmentRecord:
    """One change of an experiment, or one withdrawal of `results` imported results.

    `before` has the fields, or the withdrawn results, as they were; `after` the new fields, None
    for a withdrawal. `amended_by` is a key's id; None for a command on the server.
    """

    id: int | None = None
    experiment: str
    kind: AmendmentKind
    before: dict[str, Any]
    after: dict[str, Any] | None
    results: int
    reason: str
    amended_by: str | None
    at: datetime


def add(session: Session, new: AmendmentRecord) -> AmendmentRecord:
    """Store an amendment."""
    row = values(new)
    del row["id"]
    stored = session.execute(insert(TABLE).values(row).returning(TABLE)).one()
    return record(AmendmentRecord, stored)


def of_experiment(
    session: Session, experiment: str, *, after: int, limit: int | None
) -> list[AmendmentRecord]:
    """The amendments of an experiment in their order, after the one with this id."""
    query = (
        select(TABLE)
        .where(TABLE.c.experiment == experiment, TABLE.c.id > after)
        .order_by(TABLE.c.id)
        .limit(limit)
    )
    return [record(AmendmentRecord, row) for row in session.execute(query)]


def withdrawn(session: Session, *, as_of: datetime | None = None) -> dict[str, int]:
    """The number of results that are withdrawn, or were at the time `as_of`, by experiment."""
    query = (
        select(TABLE.c.experiment, func.sum(TABLE.c.results))
        .where(TABLE.c.kind == AmendmentKind.WITHDRAWN)
        .group_by(TABLE.c.experiment)
    )
    if as_of is not None:
        query = query.where(TABLE.c.at <= as_of)
    return {name: int(count) for name, count in session.execute(query)}


def withdrawn_since(session: Session, as_of: datetime) -> list[ImportedGradeRecord]:
    """The imported results that existed at a time and were withdrawn since."""
    is_withdrawal = TABLE.c.kind == AmendmentKind.WITHDRAWN
    query = select(TABLE.c.before).where(is_withdrawal, TABLE.c.at > as_of).order_by(TABLE.c.id)
    rows = [row for before in session.execute(query).scalars() for row in before["results"]]
    all_of_them = [
        ImportedGradeRecord(**{**row, "imported_at": datetime.fromisoformat(row["imported_at"])})
        for row in rows
    ]
    found = {
        (each.experiment, each.competition, each.seed): each
        for each in all_of_them
        if each.imported_at <= as_of
    }
    # A replacement has an earlier time than the withdrawal if the clock was set back, or if an
    # import waited for the withdrawal. There is only one result at any time.
    for table, at in ((IMPORTED, IMPORTED.c.imported_at), (RUN, RUN.c.created_at)):
        in_place = select(table.c.experiment, table.c.competition, table.c.seed).where(
            table.c.experiment.in_(select(TABLE.c.experiment).where(is_withdrawal)), at <= as_of
        )
        for name, slug, seed in session.execute(in_place) if found else ():
            found.pop((name, slug, seed), None)
    return list(found.values())


def fields_then(session: Session, as_of: datetime) -> dict[str, dict[str, Any]]:
    """The fields at a time of the experiments that were amended since, by experiment."""
    query = (
        select(TABLE.c.experiment, TABLE.c.before)
        .where(TABLE.c.kind == AmendmentKind.AMENDED, TABLE.c.at > as_of)
        .order_by(TABLE.c.id.desc())
    )
    found: dict[str, dict[str, Any]] = {}
    for experiment, before in session.execute(query):
        found.setdefault(experiment, {}).update(before)  # the earliest one overrides the others
    return found


def change_experiment(session: Session, name: str, changes: dict[str, Any]) -> None:
    """Overwrite fields of an experiment."""
    session.execute(update(EXPERIMENT).where(EXPERIMENT.c.name == name).values(changes))


def withdraw_imported(
    session: Session, experiment: str, *, competition: str | None, seed: int | None
) -> list[ImportedGradeRecord]:
    """Remove imported results of an experiment, and return them."""
    conditions = [IMPORTED.c.experiment == experiment]
    if competition is not None:
        conditions.append(IMPORTED.c.competition == competition)
    if seed is not None:
        conditions.append(IMPORTED.c.seed == seed)
    rows: Sequence[Any] = session.execute(
        select(IMPORTED).where(*conditions).order_by(IMPORTED.c.id)
    ).all()
    session.execute(delete(IMPORTED).where(*conditions))
    return [record(ImportedGradeRecord, row) for row in rows]
