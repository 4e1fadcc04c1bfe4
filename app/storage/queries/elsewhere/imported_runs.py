"""Imported runs: the entry of a file that each was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.storage.database.models import Run
from app.storage.database.rows import one, record, values
from app.storage.database.tables.results_elsewhere import ImportedRun

TABLE = ImportedRun.__table__
RUN = Run.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRunRecord:
    """The file's entry, at `place`, from which a run was made; `document` is the entry itself."""

    run_id: str
    file: str
    place: str
    sha256: str
    document: dict[str, Any]
    imported_at: datetime


def add(session: Session, records: Sequence[ImportedRunRecord]) -> None:
    """Record the origins of runs.

    Raises:
        IntegrityError: a run does not exist, or its origin was recorded before.
    """
    if records:
        session.execute(insert(TABLE), [values(each) for each in records])


def get(session: Session, run_id: str) -> ImportedRunRecord | None:
    """The origin of a run; None if the run was not imported."""
    row = session.execute(select(TABLE).where(TABLE.c.run_id == run_id)).one_or_none()
    return one(ImportedRunRecord, row)


def set_digest(session: Session, run_id: str, sha256: str) -> None:
    """Note the digest of a file that was missing before."""
    session.execute(update(TABLE).where(TABLE.c.run_id == run_id).values(sha256=sha256))


def places(session: Session, run_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The file of each imported run among these, and the place in the file."""
    query = select(TABLE.c.run_id, TABLE.c.file, TABLE.c.place).where(TABLE.c.run_id.in_(run_ids))
    return {run_id: (file, place) for run_id, file, place in session.execute(query)}


def of_competition(
    session: Session, experiment: str, competition: str
) -> dict[int, ImportedRunRecord]:
    """The origins of an experiment's imported runs at one competition, by seed."""
    query = (
        select(RUN.c.seed, TABLE)
        .join(RUN, RUN.c.id == TABLE.c.run_id)
        .where(RUN.c.experiment == experiment, RUN.c.competition == competition)
    )
    return {row[0]: record(ImportedRunRecord, row[1:]) for row in session.execute(query)}
