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
FIRST = 0x706F6469756F  # the turn to make the first key
BY_DIGEST = select(TABLE).where(TABLE.c.digest == bindparam("digest"))


def add_key(session: Session, record: KeyRecord) -> KeyRecord:
    """Store a key."""
    session.execute(ADD, values(record))
    return record


def add_first_admin(session: Session, record: KeyRecord) -> bool:
    """Store a key of an admin where none was ever made; says whether it did.

    PostgreSQL's writers do not see each other's rows before they commit, so they take turns.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(FIRST)))
    if session.execute(select(TABLE.c.id).where(TABLE.c.role == Role.ADMIN).limit(1)).first():
        return False
    add_key(session, record)
    return True


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
