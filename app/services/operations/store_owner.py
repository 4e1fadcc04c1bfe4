"""The database to which the files of a store belong: only its servers may remove files there."""

from __future__ import annotations

import secrets as random

from app.errors import Conflict
from app.storage.blobs.store import BlobStore
from app.storage.database.database import Database
from app.storage.queries.operation import secrets

OWNER_FILE = "database"  # below the store's root: the identity of the database


class ForeignStore(Conflict):
    """The store of files belongs to another database."""


def require_own_store(database: Database, store: BlobStore) -> None:
    """Check that this database owns the store; a store without an owner gets this one.

    Raises:
        ForeignStore: another database owns it.
    """
    if not owns(database, store):
        raise ForeignStore(
            f"The files in {store.name} (PODIUM_BLOBS_URL) belong to another database, so this one "
            "cannot say which of them nobody needs. Nothing was removed. If that database is gone "
            f"and this one replaces it, remove {store.name}/{OWNER_FILE} and try again."
        )


def owns(database: Database, store: BlobStore) -> bool:
    """Whether this database owns the store; a store without an owner gets this one."""
    own = database.write(
        lambda session: secrets.keep_first(
            session, secrets.DATABASE_IDENTITY, random.token_bytes(16)
        )
    ).hex()
    return store.keep_first(OWNER_FILE, own) == own
