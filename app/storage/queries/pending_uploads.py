"""Uploads that are not submitted yet. Every server of one Podium sees these rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.storage.database.rows import insert_if_new, one, values
from app.storage.database.tables.operation import PendingUpload

TABLE = PendingUpload.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingUploadRecord:
    """An uploaded file that is not submitted yet, staged in the store as `name` until `until`."""

    nonce: str
    run_id: str
    name: str
    sha256: str
    bytes: int
    came_at: datetime
    until: datetime


def add(session: Session, pending: PendingUploadRecord) -> bool:
    """Store an upload, unless one has this nonce. Returns whether it was stored."""
    return insert_if_new(session, TABLE, ("nonce",), values(pending))


def get(session: Session, nonce: str) -> PendingUploadRecord | None:
    """The upload with this nonce."""
    return one(
        PendingUploadRecord,
        session.execute(select(TABLE).where(TABLE.c.nonce == nonce)).one_or_none(),
    )


def expired(session: Session, now: datetime, limit: int) -> list[PendingUploadRecord]:
    """Uploads that have expired, at most `limit`."""
    query = select(TABLE).where(TABLE.c.until < now).limit(limit)
    return [PendingUploadRecord(**row) for row in session.execute(query).mappings()]


def beyond_limit(
    session: Session, run_id: str, kept: int, newest: str
) -> list[PendingUploadRecord]:
    """A run's uploads, except `kept` of them: the one with the nonce `newest`, and the latest.

    The newest one is named, because the times of earlier ones may be in the future.
    """
    query = (
        select(TABLE)
        .where(TABLE.c.run_id == run_id, TABLE.c.nonce != newest)
        .order_by(TABLE.c.came_at.desc(), TABLE.c.nonce)
        .offset(kept - 1)
    )
    return [PendingUploadRecord(**row) for row in session.execute(query).mappings()]


def remove(session: Session, nonces: list[str]) -> None:
    """Delete the rows of uploads."""
    session.execute(delete(TABLE).where(TABLE.c.nonce.in_(nonces)))


def names(session: Session, since: datetime) -> set[str]:
    """The names of the staged files of all uploads that had not expired by then."""
    return set(session.execute(select(TABLE.c.name).where(TABLE.c.until >= since)).scalars())
