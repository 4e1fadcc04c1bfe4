"""Refuse to start a server on a damaged or lost database, or on the files of another database."""

from __future__ import annotations

import secrets as random
import sqlite3
import uuid
from pathlib import Path

from sqlalchemy import create_engine, inspect

from app.errors import Conflict
from app.services.runtime.blob_store import store_and_database
from app.services.runtime.context import INSTANCE
from app.settings import Settings
from app.storage.blobs.disk import STORE_FILE
from app.storage.blobs.store import BlobStore
from app.storage.database.database import Database
from app.storage.database.urls import database_url, sqlite_file
from app.storage.queries.operation import secrets

IDENTITY_BYTES = 16
FIRST_PROBLEMS = 3  # of quick_check; it may find thousands
OWNER_FILE = "database"  # below the store's root: the identity of the database


class DamagedDatabase(Conflict):
    """The database is damaged, or empty although files belong to one."""


class OtherStore(Conflict):
    """This process stores files elsewhere than the servers of its database."""


class ForeignStore(Conflict):
    """The store of files belongs to another database."""


def refuse_damaged_database(settings: Settings) -> None:
    """Check the pages of a SQLite file, and that a used data directory has a used database.

    Call before the schema is upgraded.

    Raises:
        DamagedDatabase: says what is wrong and what to do.
    """
    file = sqlite_file(settings.database_url)
    if file is not None and file.is_file():
        refuse_damaged_pages(file)
    if file is not None and not file.is_file():
        is_empty = True
    else:
        is_empty = _has_no_table(settings.database_url)
    if is_empty and (settings.data_dir / INSTANCE).exists():
        place = database_url(settings.database_url).render_as_string(hide_password=True)
        raise DamagedDatabase(
            f"The database {place} is empty, but the data directory {settings.data_dir} was used "
            "with a database before. Give the right PODIUM_DATABASE_URL, put the database back, or "
            "restore a backup (`podium restore`) into a new PODIUM_DATA_DIR. To begin anew, name a "
            "new PODIUM_DATA_DIR."
        )


def refuse_other_store(settings: Settings, *, claims: bool = True) -> None:
    """Check that the store of these settings has the files of this database, and of no other.

    The first server writes the identities of store and database into each other; commands, which do
    not claim the store, write nothing. Call after the upgrade.

    Raises:
        OtherStore: the database names another store.
        ForeignStore: another database owns the store, and would remove the files of this one.
    """
    with store_and_database(settings) as (store, database):
        own = _identity_of(store)
        with database.read() as session:
            known = secrets.find(session, secrets.STORE_IDENTITY)
        if claims and known in (None, own):
            if not owns(database, store):
                raise _foreign(
                    store,
                    "whose servers remove what it does not name, such as new files of this one. "
                    "Give this one a PODIUM_BLOBS_URL of its own; if it is a restored copy, "
                    "restore the backup with it into another empty database",
                )
            known = database.write(
                lambda session: secrets.keep_first(session, secrets.STORE_IDENTITY, own)
            )
    if known not in (None, own):
        raise OtherStore(
            f"This process stores files in {store.name}, and the servers of its database "
            "store them elsewhere: neither would find the files of the other. Give all servers and "
            "workers of one database the same PODIUM_BLOBS_URL, or this one a database of its own. "
            "If that is a disk that machines share, is it mounted? If the store was moved without "
            f"its file {STORE_FILE!r}, copy that file too."
        )


def _identity_of(store: BlobStore) -> bytes:
    text = store.keep_first(STORE_FILE, uuid.uuid4().hex)
    try:
        found = bytes.fromhex(text)
        # Otherwise every store without an identity would match an empty identity.
        if len(found) != IDENTITY_BYTES:
            raise ValueError
        return found
    except ValueError:
        raise OtherStore(
            f"The file {STORE_FILE!r} in {store.name} (PODIUM_BLOBS_URL) is not the identity that "
            f"Podium wrote: expected 32 hex digits, found {text[:40]!r}. Put it back from a copy "
            "of the store. Nothing was changed."
        ) from None


def refuse_damaged_pages(file: Path) -> None:
    """Check the pages of a SQLite file.

    Raises:
        DamagedDatabase: some are damaged.
    """
    try:
        connection = sqlite3.connect(file)
        try:
            found = connection.execute(f"PRAGMA quick_check({FIRST_PROBLEMS})").fetchall()
        finally:
            connection.close()
        problems = [str(row[0]) for row in found]
    except sqlite3.OperationalError:
        return  # it cannot be opened or is locked: the next attempt to open it reports that
    except sqlite3.DatabaseError as error:
        problems = [str(error)]
    if problems != ["ok"]:
        first = "; ".join(" ".join(one.split()) for one in problems)
        raise DamagedDatabase(
            f"The database {file} is damaged: {first[:500]}. Restore a backup (`podium restore`) "
            "into a new PODIUM_DATA_DIR, or repair a copy of it with the `.recover` command of the "
            "program sqlite3. Nothing was changed."
        )


def _has_no_table(url: str) -> bool:
    try:
        engine = create_engine(database_url(url))
        try:
            return not inspect(engine).get_table_names()
        finally:
            engine.dispose()
    except Exception:
        return False


def require_own_store(database: Database, store: BlobStore) -> None:
    """Check that this database owns the store; a store without an owner gets this one.

    Raises:
        ForeignStore: another database owns it.
    """
    if not owns(database, store):
        raise _foreign(
            store, "so this one cannot say which of them nobody needs. Nothing was removed"
        )


def _foreign(store: BlobStore, so: str) -> ForeignStore:
    """The error for a store that another database owns; `so` is the consequence."""
    return ForeignStore(
        f"The files in {store.name} (PODIUM_BLOBS_URL) belong to another database, {so}. If that "
        "database is gone and this one replaces it, for example from a backup, remove "
        f"{store.name}/{OWNER_FILE} and try again."
    )


def owns(database: Database, store: BlobStore) -> bool:
    """Whether this database owns the store; a store without an owner gets this one."""
    own = database.write(
        lambda session: secrets.keep_first(
            session, secrets.DATABASE_IDENTITY, random.token_bytes(16)
        )
    ).hex()
    return store.keep_first(OWNER_FILE, own) == own
