"""Keys: found by digest; revoked, never deleted."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from app.storage.inserts import insert_if_new
from app.storage.models import ApiKey
from app.storage.records import KeyRecord
from app.storage.rows import one, values

TABLE = ApiKey.__table__
ADD = insert(TABLE)
BY_DIGEST = select(TABLE).where(TABLE.c.digest == bindparam("digest"))


def add_key(session: Session, record: KeyRecord) -> KeyRecord:
    """Store a key."""
    session.execute(ADD, values(record))
    return record


def add_if_new(session: Session, record: KeyRecord) -> bool:
    """Store a key unless there is one of this id; says whether it did."""
    return insert_if_new(session, TABLE, ("id",), values(record))


def find_key(session: Session, digest: str) -> KeyRecord | None:
    """The key with this digest, also when it is expired or revoked."""
    return one(KeyRecord, session.execute(BY_DIGEST, {"digest": digest}).one_or_none())


def list_keys(session: Session) -> list[KeyRecord]:
    """All keys, oldest first."""
    return [
        KeyRecord(**row) for row in session.execute(select(TABLE).order_by(TABLE.c.id)).mappings()
    ]


def revoke_key(session: Session, key_id: str, at: datetime) -> KeyRecord | None:
    """End a key's life, once: a later time changes nothing. None: there is no such key."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.id == key_id, TABLE.c.revoked_at.is_(None))
        .values(revoked_at=at)
    )
    return one(KeyRecord, session.execute(select(TABLE).where(TABLE.c.id == key_id)).one_or_none())
