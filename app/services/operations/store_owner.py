"""The database to which the files of a store belong: only its servers may remove files there."""

from __future__ import annotations

import os
import secrets as random
import uuid
from pathlib import Path

from app.errors import Conflict
from app.storage.database.database import Database
from app.storage.queries.operation import secrets

OWNER_FILE = "database"  # below the store's root: the identity of the database


class ForeignStore(Conflict):
    """The store of files belongs to another database."""


def require_own_store(database: Database, root: Path) -> None:
    """Check that this database owns the store; a store without an owner gets this one.

    Raises:
        ForeignStore: another database owns it.
    """
    if not owns(database, root):
        raise ForeignStore(
            f"The files in {root} (PODIUM_BLOBS_URL) belong to another database, so this one "
            "cannot say which of them nobody needs. Nothing was removed. If that database is gone "
            f"and this one replaces it, remove {root / OWNER_FILE} and try again."
        )


def owns(database: Database, root: Path) -> bool:
    """Whether this database owns the store; a store without an owner gets this one."""
    own = database.write(
        lambda session: secrets.keep_first(
            session, secrets.DATABASE_IDENTITY, random.token_bytes(16)
        )
    ).hex()
    file = root / OWNER_FILE
    if not file.exists():
        partial = file.with_name(f"{OWNER_FILE}.{uuid.uuid4().hex}")
        partial.write_text(own)
        try:
            os.link(partial, file)
        except FileExistsError:
            pass
        finally:
            partial.unlink()
    return file.read_text().strip() == own
