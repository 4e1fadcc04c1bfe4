"""Signing keys: public parts in their own table, private parts among the secrets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.storage.database.dump import SIGNING_KEY
from app.storage.database.rows import one, record, values
from app.storage.database.tables.receipts import SigningKey
from app.storage.queries.operation import secrets

TABLE = SigningKey.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKeyRecord:
    """The public part of a signing key, in hex. It is valid until `valid_before` (None: no end)."""

    id: str
    name: str
    public_key: str
    valid_after: datetime
    valid_before: datetime | None = None
    revoked_at: datetime | None = None
    reason: str | None = None

    @property
    def public(self) -> bytes:
        """The raw public key."""
        return bytes.fromhex(self.public_key)


def add(session: Session, new: SigningKeyRecord, private: bytes) -> None:
    """Store a key, and its private part as a secret."""
    session.execute(insert(TABLE), values(new))
    secrets.keep_first(session, SIGNING_KEY + new.id, private)


def private_part(session: Session, key_id: str) -> bytes | None:
    """The private part of a key; None if it is missing, for example in a restored Podium."""
    return secrets.find(session, SIGNING_KEY + key_id)


def get(session: Session, key_id: str) -> SigningKeyRecord | None:
    """The key with this id."""
    row = session.execute(select(TABLE).where(TABLE.c.id == key_id)).one_or_none()
    return one(SigningKeyRecord, row)


def all_keys(session: Session) -> list[SigningKeyRecord]:
    """All keys, oldest first."""
    rows = session.execute(select(TABLE).order_by(TABLE.c.id))
    return [record(SigningKeyRecord, row) for row in rows]


def retire(session: Session, key_id: str, before: datetime) -> None:
    """End the validity of a key, unless it has ended."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.id == key_id, TABLE.c.valid_before.is_(None))
        .values(valid_before=before)
    )


def revoke(session: Session, key_id: str, at: datetime, reason: str) -> None:
    """Record that a key was revoked, unless it was revoked before."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.id == key_id, TABLE.c.revoked_at.is_(None))
        .values(revoked_at=at, reason=reason)
    )
