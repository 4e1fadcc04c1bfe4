"""Secrets that all servers of one Podium share."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.errors import DamagedRow
from app.storage.database.rows import insert_if_new
from app.storage.database.tables.operation import LOGINS, SIGNED_URLS, Secret

TABLE = Secret.__table__
STORE_IDENTITY = "store-identity"  # not a secret: which store has the files of this database
DATABASE_IDENTITY = "database-identity"  # not a secret: the owner of a store
# Deleted in a restored Podium, since older versions included these secrets in backups. The Podium
# that was backed up may still run: it is another database, and a store belongs to only one.
FORGET = delete(TABLE).where(
    TABLE.c.name.in_((STORE_IDENTITY, DATABASE_IDENTITY, LOGINS, SIGNED_URLS))
)


def find(session: Session, name: str) -> bytes | None:
    """The secret with this name.

    Raises:
        DamagedRow: it is not what was stored.
    """
    value = session.execute(select(TABLE.c.value).where(TABLE.c.name == name)).scalar_one_or_none()
    try:
        return None if value is None else bytes.fromhex(value)
    except (TypeError, ValueError):
        raise DamagedRow(f"the value of {name!r} in the table secret is not in hex") from None


def keep_first(session: Session, name: str, candidate: bytes) -> bytes:
    """The secret with this name. If there is none, store `candidate` and return it."""
    insert_if_new(session, TABLE, ("name",), {"name": name, "value": candidate.hex()})
    found = find(session, name)
    assert found is not None  # noqa: S101 (it was just stored, by this or another server)
    return found
