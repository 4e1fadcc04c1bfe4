"""Keys: found by digest; revoked, never deleted."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from app.domain.states import Role
from app.storage.database.mapping import one, values
from app.storage.database.models import ApiKey
from app.storage.database.records import KeyRecord

TABLE = ApiKey.__table__
ADD = insert(TABLE)
FIRST_KEY_LOCK = 0x706F6469756F  # the advisory lock for making the first key
BY_DIGEST = select(TABLE).where(TABLE.c.digest == bindparam("digest"))


def add_key(session: Session, record: KeyRecord) -> KeyRecord:
    """Store a key."""
    session.execute(ADD, values(record))
    return record


def add_first_admin(session: Session, record: KeyRecord) -> bool:
    """Store an admin's key if there never was one. Returns whether it did.

    In PostgreSQL a transaction does not see rows that another has not committed. A lock ensures
    that one transaction at a time makes the first key.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(FIRST_KEY_LOCK)))
    if session.execute(select(TABLE.c.id).where(TABLE.c.role == Role.ADMIN).limit(1)).first():
        return False
    add_key(session, record)
    return True


def find_key(session: Session, digest: str) -> KeyRecord | None:
    """The key with this digest, also when it is expired or revoked."""
    return one(KeyRecord, session.execute(BY_DIGEST, {"digest": digest}).one_or_none())


def get_key(session: Session, key_id: str) -> KeyRecord | None:
    """The key with this id, also when it is expired or revoked."""
    return one(KeyRecord, session.execute(select(TABLE).where(TABLE.c.id == key_id)).one_or_none())


def list_keys(session: Session) -> list[KeyRecord]:
    """All keys, oldest first."""
    return [
        KeyRecord(**row) for row in session.execute(select(TABLE).order_by(TABLE.c.id)).mappings()
    ]


def revoke_key(session: Session, key_id: str, at: datetime) -> KeyRecord | None:
    """Revoke a key. A revoked key keeps its first time. Returns None if there is no such key."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.id == key_id, TABLE.c.revoked_at.is_(None))
        .values(revoked_at=at)
    )
    return one(KeyRecord, session.execute(select(TABLE).where(TABLE.c.id == key_id)).one_or_none())
