"""Keys: found by digest; revoked, never deleted."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from app.domain.states import Role, RunState
from app.storage.database.models import ApiKey, Run
from app.storage.database.records import KeyHolder, KeyRecord
from app.storage.database.rows import one, record, values
from app.storage.queries.archive import archived_kind_of_key

TABLE = ApiKey.__table__
ADD = insert(TABLE)
FIRST_KEY_LOCK = 0x706F6469756F  # the advisory lock for making the first key
RUN = Run.__table__
WAITS = and_(RUN.c.id.is_not(None), RUN.c.started_at.is_(None), RUN.c.state == RunState.OPEN)
HOLDERS = select(TABLE, WAITS.label("run_waits"), archived_kind_of_key().label("archived")).join(
    RUN, RUN.c.id == TABLE.c.run_id, isouter=True
)
BY_DIGEST = HOLDERS.where(TABLE.c.digest == bindparam("digest"))
BY_DIGESTS = HOLDERS.where(TABLE.c.digest.in_(bindparam("digests", expanding=True)))
BY_ID = HOLDERS.where(TABLE.c.id == bindparam("id"))


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


def find_key(session: Session, digest: str) -> KeyHolder | None:
    """The key with this digest, also when it is expired or revoked, and its run's state."""
    return _holder(session.execute(BY_DIGEST, {"digest": digest}).one_or_none())


def find_keys(session: Session, digests: Collection[str]) -> dict[str, KeyHolder]:
    """Like `find_key`, for many digests; those without a key are absent."""
    holders = (_holder(row) for row in session.execute(BY_DIGESTS, {"digests": sorted(digests)}))
    return {holder.key.digest: holder for holder in holders if holder is not None}


def get_key(session: Session, key_id: str) -> KeyHolder | None:
    """The key with this id, also when it is expired or revoked, and its run's state."""
    return _holder(session.execute(BY_ID, {"id": key_id}).one_or_none())


def _holder(row: Row[Any] | None) -> KeyHolder | None:
    if row is None:
        return None
    return KeyHolder(record(KeyRecord, row[:-2]), bool(row.run_waits), row.archived)


def list_keys(
    session: Session,
    *,
    role: Role | None = None,
    run: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[KeyRecord]:
    """Keys, oldest first, at most `limit` after the id `after`; of one role, of one run, or all."""
    query = select(TABLE).order_by(TABLE.c.id).limit(limit)
    if role is not None:
        query = query.where(TABLE.c.role == role)
    if run is not None:
        query = query.where(TABLE.c.run_id == run)
    if after is not None:
        query = query.where(TABLE.c.id > after)
    return [KeyRecord(**row) for row in session.execute(query).mappings()]


def count_keys(session: Session, *, up_to: str | None = None) -> int:
    """The number of keys; with `up_to`, of those up to this id."""
    query = select(func.count()).select_from(TABLE)
    if up_to is not None:
        query = query.where(TABLE.c.id <= up_to)
    return int(session.execute(query).scalar_one())


def revoke_key(session: Session, key_id: str, at: datetime) -> KeyRecord | None:
    """Revoke a key. A revoked key keeps its first time. Returns None if there is no such key."""
    session.execute(
        update(TABLE)
        .where(TABLE.c.id == key_id, TABLE.c.revoked_at.is_(None))
        .values(revoked_at=at)
    )
    return one(KeyRecord, session.execute(select(TABLE).where(TABLE.c.id == key_id)).one_or_none())
