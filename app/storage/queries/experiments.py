"""Experiments, by name."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.storage.database.models import Experiment
from app.storage.database.records import ExperimentRecord
from app.storage.database.rows import one, values
from app.storage.queries import archive

TABLE = Experiment.__table__


def add(session: Session, record: ExperimentRecord) -> ExperimentRecord:
    """Store an experiment.

    Raises:
        IntegrityError: an experiment has this name already.
    """
    session.execute(insert(TABLE), values(record))
    return record


def get(session: Session, name: str) -> ExperimentRecord | None:
    """The experiment with this name."""
    row = session.execute(select(TABLE).where(TABLE.c.name == name)).one_or_none()
    return one(ExperimentRecord, row)


def lock(session: Session, name: str, *, shared: bool = False) -> None:
    """Lock an experiment until this transaction ends; `shared` locks exclude only exclusive ones.

    In SQLite there is one writing transaction at a time, so no lock is needed. Others may store
    rows that refer to the experiment.
    """
    query = select(TABLE.c.name).where(TABLE.c.name == name)
    session.execute(query.with_for_update(read=shared, key_share=not shared))


def list_page(
    session: Session,
    *,
    archived: bool = False,
    after: str | None = None,
    limit: int | None,
    as_of: datetime | None = None,
) -> list[ExperimentRecord]:
    """Experiments by name, at most `limit` after the name `after`; with `archived`, all of them.

    With `as_of`, experiments that were archived then are left out.
    """
    query = select(TABLE).order_by(TABLE.c.name).limit(limit)
    if not archived:
        hidden = archive.names_of(ArchivalKind.EXPERIMENT, as_of)
        query = query.where(TABLE.c.name.not_in(hidden))
    if after is not None:
        query = query.where(TABLE.c.name > after)
    return [ExperimentRecord(**row) for row in session.execute(query).mappings()]
