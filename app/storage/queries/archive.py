"""Archived competitions, experiments and runs, and the conditions that leave them out of lists."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, delete, insert, or_, select, union, update
from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.storage.database.models import ApiKey, Run
from app.storage.database.rows import one, values
from app.storage.database.tables.acts import Archival
from app.storage.database.tables.results_elsewhere import ImportedGrade

TABLE = Archival.__table__
RUN = Run.__table__
KEY = ApiKey.__table__
IMPORTED = ImportedGrade.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivalRecord:
    """The last archiving of a competition (its slug), experiment (its name) or run (its id).

    It is archived while `restored_at` is None. `archived_by` and `restored_by` are ids of keys;
    None for a command on the server.
    """

    kind: ArchivalKind
    name: str
    archived_at: datetime
    reason: str
    archived_by: str | None = None
    restored_at: datetime | None = None
    restore_reason: str | None = None
    restored_by: str | None = None


def archive(session: Session, record: ArchivalRecord) -> None:
    """Store that something is archived. The previous archiving and restoration are overwritten."""
    session.execute(delete(TABLE).where(TABLE.c.kind == record.kind, TABLE.c.name == record.name))
    session.execute(insert(TABLE), values(record))


def restore(
    session: Session, kind: ArchivalKind, name: str, *, at: datetime, reason: str, by: str | None
) -> None:
    """End an archiving."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.kind == kind, TABLE.c.name == name, TABLE.c.restored_at.is_(None))
        .values(restored_at=at, restore_reason=reason, restored_by=by)
    )


def current(session: Session, kind: ArchivalKind, name: str) -> ArchivalRecord | None:
    """The archiving of something that is archived now."""
    query = select(TABLE).where(
        TABLE.c.kind == kind, TABLE.c.name == name, TABLE.c.restored_at.is_(None)
    )
    return one(ArchivalRecord, session.execute(query).one_or_none())


def currents(
    session: Session, kind: ArchivalKind, names: Collection[str]
) -> dict[str, ArchivalRecord]:
    """The current archivings of these, which are of one kind, by name."""
    is_wanted = and_(TABLE.c.kind == kind, TABLE.c.name.in_(sorted(names)))
    return {each.name: each for each in _currents(session, is_wanted)}


def currents_among(
    session: Session, parts: Collection[tuple[ArchivalKind, str]]
) -> list[ArchivalRecord]:
    """Which of these, each a kind and a name, are archived now."""
    is_one = or_(*(and_(TABLE.c.kind == kind, TABLE.c.name == name) for kind, name in parts))
    return _currents(session, is_one)


def currents_of_experiments(session: Session, names: Collection[str]) -> list[ArchivalRecord]:
    """Which of these experiments, and of the competitions where they have results, are archived."""
    tried = [
        select(table.c.competition).where(table.c.experiment.in_(sorted(names)))
        for table in (RUN, IMPORTED)
    ]
    is_tried = or_(*(TABLE.c.name.in_(each) for each in tried))
    return _currents(
        session,
        or_(
            and_(TABLE.c.kind == ArchivalKind.EXPERIMENT, TABLE.c.name.in_(sorted(names))),
            and_(TABLE.c.kind == ArchivalKind.COMPETITION, is_tried),
        ),
    )


def _currents(session: Session, condition: ColumnElement[bool]) -> list[ArchivalRecord]:
    query = (
        select(TABLE)
        .where(TABLE.c.restored_at.is_(None), condition)
        .order_by(TABLE.c.kind, TABLE.c.name)
    )
    return [ArchivalRecord(**row) for row in session.execute(query).mappings()]


def is_anything_archived() -> ColumnElement[bool]:
    """A condition: whether anything is archived now."""
    return select(TABLE.c.name).where(TABLE.c.restored_at.is_(None)).exists()


def names_of(kind: ArchivalKind, as_of: datetime | None = None) -> Any:
    """A subquery: the names of all that is archived of this kind, now or at the time `as_of`.

    If a name was archived several times, only the last time is known.
    """
    still = TABLE.c.restored_at.is_(None)
    holds: list[ColumnElement[bool]] = [still]
    if as_of is not None:
        holds = [TABLE.c.archived_at <= as_of, or_(still, TABLE.c.restored_at > as_of)]
    return select(TABLE.c.name).where(TABLE.c.kind == kind, *holds)


def archived_runs(session: Session, experiment: str, as_of: datetime | None) -> set[str]:
    """The runs of an experiment that are archived individually, as in `names_of`."""
    query = select(RUN.c.id).where(
        RUN.c.experiment == experiment, RUN.c.id.in_(names_of(ArchivalKind.RUN, as_of))
    )
    return set(session.execute(query).scalars())


def archived_among(
    session: Session, kind: ArchivalKind, names: Collection[str], as_of: datetime | None
) -> set[str]:
    """Which of these, which are of one kind, are archived, as in `names_of`."""
    query = names_of(kind, as_of).where(TABLE.c.name.in_(sorted(names)))
    return set(session.execute(query).scalars())


def is_shown(
    table: Table,
    *,
    experiment_named: bool,
    competition_named: bool,
    as_of: datetime | None = None,
) -> list[ColumnElement[bool]]:
    """The conditions that a row of `run` or `imported_grade` is not archived, as in `names_of`.

    An experiment or a competition that the caller names is shown although it is archived.
    """
    conditions: list[ColumnElement[bool]] = []
    if table is RUN:
        conditions.append(RUN.c.id.not_in(names_of(ArchivalKind.RUN, as_of)))
    if not experiment_named:
        hidden = names_of(ArchivalKind.EXPERIMENT, as_of)
        conditions.append(table.c.experiment.not_in(hidden))
    if not competition_named:
        hidden = names_of(ArchivalKind.COMPETITION, as_of)
        conditions.append(table.c.competition.not_in(hidden))
    return conditions


def competitions_left_out(
    session: Session, experiments: Collection[str] | None, as_of: datetime | None
) -> dict[str, set[str]]:
    """The archived competitions at which each of these experiments (None: all) has results.

    Archived as in `names_of`. Archived runs are not results, nor are those made after `as_of`.
    """
    made = {RUN: RUN.c.created_at, IMPORTED: IMPORTED.c.imported_at}
    parts = []
    for table, at in made.items():
        query = select(table.c.experiment, table.c.competition).where(
            table.c.competition.in_(names_of(ArchivalKind.COMPETITION, as_of)),
            *is_shown(table, experiment_named=True, competition_named=True, as_of=as_of),
        )
        if experiments is not None:
            query = query.where(table.c.experiment.in_(sorted(experiments)))
        if as_of is not None:
            query = query.where(at <= as_of)
        parts.append(query)
    found: dict[str, set[str]] = {}
    for experiment, competition in session.execute(union(*parts)):
        found.setdefault(experiment, set()).add(competition)
    return found


def archived_kind_of_key() -> Any:
    """A scalar subquery on rows of `api_key` and `run`: the kind of what is archived, or null.

    For a run's key, the run, its experiment and its competition count; for a harness's key, its
    experiment.
    """
    return (
        select(TABLE.c.kind)
        .where(
            TABLE.c.restored_at.is_(None),
            or_(
                and_(TABLE.c.kind == ArchivalKind.RUN, TABLE.c.name == RUN.c.id),
                and_(TABLE.c.kind == ArchivalKind.EXPERIMENT, TABLE.c.name == RUN.c.experiment),
                and_(TABLE.c.kind == ArchivalKind.COMPETITION, TABLE.c.name == RUN.c.competition),
                and_(TABLE.c.kind == ArchivalKind.EXPERIMENT, TABLE.c.name == KEY.c.experiment),
            ),
        )
        .order_by(TABLE.c.kind.desc())
        .limit(1)
        .correlate(RUN, KEY)
        .scalar_subquery()
    )
