"""Files known to contain leaked answers, by competition and SHA-256."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.storage.database.models import Run, Submission
from app.storage.database.rows import insert_if_new, record, values
from app.storage.database.tables.reviews import KnownLeak

TABLE = KnownLeak.__table__
RUN = Run.__table__
SUBMISSION = Submission.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLeakRecord:
    """A file known to contain leaked answers; `note` says where it can be found."""

    competition: str
    sha256: str
    note: str
    added_by: str | None
    at: datetime


def add(session: Session, new: KnownLeakRecord) -> bool:
    """Store a file. Returns False if it is listed already."""
    return insert_if_new(session, TABLE, ("competition", "sha256"), values(new))


def remove(session: Session, competition: str, sha256: str) -> bool:
    """Remove a file from the list. Returns False if it is not listed."""
    gone = delete(TABLE).where(TABLE.c.competition == competition, TABLE.c.sha256 == sha256)
    return bool(session.execute(gone.returning(TABLE.c.sha256)).first())


def of_competition(session: Session, competition: str) -> list[KnownLeakRecord]:
    """The files listed for a competition, oldest first."""
    query = (
        select(TABLE).where(TABLE.c.competition == competition).order_by(TABLE.c.at, TABLE.c.sha256)
    )
    return [record(KnownLeakRecord, row) for row in session.execute(query)]


def sent(session: Session, competition: str, sha256: str) -> list[tuple[str, str]]:
    """The submissions with these bytes at a competition, with their runs."""
    query = (
        select(SUBMISSION.c.id, RUN.c.id)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .where(RUN.c.competition == competition, SUBMISSION.c.sha256 == sha256)
        .order_by(SUBMISSION.c.id)
    )
    return [(one[0], one[1]) for one in session.execute(query)]
