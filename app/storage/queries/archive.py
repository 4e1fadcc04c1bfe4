"""Archived competitions, experiments and runs, and the conditions that leave them out of lists."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.storage.database.mapping import one, values
from app.storage.database.models import ApiKey, Run
from app.storage.database.tables.acts import Archival

TABLE = Archival.__table__
RUN = Run.__table__
KEY = ApiKey.__table__


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
    """Store that something is archived. The archiving and restoration before are overwritten.

    Raises:
        IntegrityError: another server archives it at the same time.
    """
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
    session: Session, kind: ArchivalKind, names: Collection[str] | None = None
) -> dict[str, ArchivalRecord]:
    """What of a kind is archived now, by name; of these names, or of all."""
    query = select(TABLE).where(TABLE.c.kind == kind, TABLE.c.restored_at.is_(None))
    if names is not None:
        query = query.where(TABLE.c.name.in_(sorted(names)))
    found = (ArchivalRecord(**row) for row in session.execute(query).mappings())
    return {each.name: each for each in found}


def names_of(kind: ArchivalKind) -> Any:
    """A subquery: the names of all that is archived of this kind."""
    return select(TABLE.c.name).where(TABLE.c.kind == kind, TABLE.c.restored_at.is_(None))


def is_shown(
    table: Table, *, experiment_named: bool, competition_named: bool
) -> list[ColumnElement[bool]]:
    """The conditions that a row of `run` or `imported_grade` is not archived.

    An experiment or a competition that the caller names is shown although it is archived.
    """
    conditions: list[ColumnElement[bool]] = []
    if table is RUN:
        conditions.append(RUN.c.id.not_in(names_of(ArchivalKind.RUN)))
    if not experiment_named:
        conditions.append(table.c.experiment.not_in(names_of(ArchivalKind.EXPERIMENT)))
    if not competition_named:
        conditions.append(table.c.competition.not_in(names_of(ArchivalKind.COMPETITION)))
    return conditions


def archived_kind_of_key() -> Any:
    """A scalar subquery on rows of `api_key` and `run`: the kind of what is archived, or null.

    Of a run's key the run, its experiment and its competition count, of a harness's its experiment.
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
