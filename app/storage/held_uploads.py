"""Uploads that wait for their submission: rows that every server of one Podium sees."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.storage.inserts import insert_if_new
from app.storage.models import HeldUpload
from app.storage.records import HeldUploadRecord
from app.storage.rows import one, values

TABLE = HeldUpload.__table__


def add(session: Session, held: HeldUploadRecord) -> bool:
    """Store one; says whether there was none of this nonce."""
    return insert_if_new(session, TABLE, ("nonce",), values(held))


def get(session: Session, nonce: str) -> HeldUploadRecord | None:
    """The upload of this nonce."""
    return one(
        HeldUploadRecord, session.execute(select(TABLE).where(TABLE.c.nonce == nonce)).one_or_none()
    )


def expired(session: Session, now: datetime, limit: int) -> list[HeldUploadRecord]:
    """Uploads whose time is over."""
    query = select(TABLE).where(TABLE.c.until < now).limit(limit)
    return [HeldUploadRecord(**row) for row in session.execute(query).mappings()]


def beyond(session: Session, run_id: str, kept: int) -> list[HeldUploadRecord]:
    """A run's uploads, except the latest `kept`."""
    query = (
        select(TABLE)
        .where(TABLE.c.run_id == run_id)
        .order_by(TABLE.c.came_at.desc(), TABLE.c.nonce)
        .offset(kept)
    )
    return [HeldUploadRecord(**row) for row in session.execute(query).mappings()]


def remove(session: Session, nonces: list[str]) -> None:
    """Forget uploads."""
    session.execute(delete(TABLE).where(TABLE.c.nonce.in_(nonces)))
