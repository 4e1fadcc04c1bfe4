"""Bring a backup back into an empty Podium: verified first, the rows last and in one piece."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sqlalchemy import Connection

from app.errors import Conflict, DamagedFile
from app.services.operations.backup_format import (
    BLOB_LIST,
    Manifest,
    Progress,
    TableFile,
    blob_file,
    table_file,
    verified,
)
from app.services.runtime.blob_store import open_store
from app.services.runtime.context import lock_data_directory
from app.settings import Settings
from app.storage.blobs.concurrency import map_concurrently
from app.storage.blobs.store import BlobStore
from app.storage.database import dump, migrations
from app.storage.database.database import Database
from app.storage.database.engine import database_url, sqlite_file
from app.storage.database.jsonl import load_rows, read_lines

PARALLEL_COPIES = 8  # files stored side by side
CHUNK = 1 << 20


class NotEmpty(Conflict):
    """A backup is restored into an empty Podium only."""


def restore(settings: Settings, folder: Path, tell: Progress) -> Manifest:
    """Bring everything back from the backup in `folder`.

    Files come first: without rows nobody sees them, and the same again changes nothing. The rows
    come last, in one transaction. What was being graded when the backup was made is queued.

    Raises:
        BadBackup: something is missing, damaged or too new; nothing was written.
        NotEmpty: there are rows already; nothing was written.
        DataDirectoryInUse: a server runs on this data directory.
        BadSettings, StoreAway, StorageFull, Unavailable: no row was written.
    """
    lock = lock_data_directory(settings.data_dir)
    try:
        _require_empty_database(settings)
        manifest = verified(folder, tell)
        _store_files(settings, folder, manifest, tell)
        _store_rows(settings, folder, manifest, tell)
    finally:
        os.close(lock)
    return manifest


def _require_empty_database(settings: Settings) -> None:
    file = sqlite_file(settings.database_url)
    if file is not None and not file.exists():
        return  # looking would make it
    database = Database(settings.database_url)
    try:
        with database.read() as session:
            _require_empty(session.connection(), settings)
    finally:
        database.close()


def _require_empty(connection: Connection, settings: Settings) -> None:
    place = database_url(settings.database_url).render_as_string(hide_password=True)
    filled = dump.tables_with_rows(connection)
    if filled:
        raise NotEmpty(
            f"The database {place} has rows already, in {', '.join(filled)}. Name an empty one by "
            "PODIUM_DATABASE_URL, or a new PODIUM_DATA_DIR: nothing is overwritten. (A server that "
            "has started once has made rows.)"
        )
    found = dump.revision(connection)
    if found and found not in migrations.known_revisions():
        raise NotEmpty(
            f"The database {place} was made by a newer Podium (schema {found}): restore with that "
            "version, or name a new database."
        )


def _store_files(settings: Settings, folder: Path, manifest: Manifest, tell: Progress) -> None:
    blobs, cache = open_store(settings)

    def store(line: tuple[str, int]) -> None:
        sha256, size = line
        source = blob_file(folder, sha256)
        with source.open("rb") as file, blobs.new_upload() as upload:
            while chunk := file.read(CHUNK):
                upload.write(chunk)
            stored = upload.finish()
        if stored.sha256 != sha256:
            raise DamagedFile(f"{source} changed while it was restored. No row was restored.")
        _read_again(blobs, sha256, Path(scratch))
        tell("storing files", size, manifest.blob_bytes)

    try:
        blobs.check()
        work = settings.data_dir / "tmp"  # what a killed process leaves there, the next one removes
        work.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            for _ in map_concurrently(
                store, read_lines(folder / BLOB_LIST), at_once=PARALLEL_COPIES
            ):
                pass
    finally:
        cache.close()


def _read_again(blobs: BlobStore, sha256: str, scratch: Path) -> None:
    """Make sure that the store has these very bytes: it may have had a file of this name before."""
    copy = scratch / sha256
    try:
        blobs.fetch(sha256, copy)
    except DamagedFile as error:
        advice = "Remove it there and restore again; no row was restored."
        raise DamagedFile(f"{error.detail} {advice}") from None
    copy.unlink()


def _store_rows(settings: Settings, folder: Path, manifest: Manifest, tell: Progress) -> None:
    def load(connection: Connection) -> None:
        _require_empty(connection, settings)  # once more: now nobody comes between
        for table in manifest.tables:
            _load(connection, folder, table, manifest.rows(), tell)

    def finish(connection: Connection) -> None:
        dump.requeue_unfinished(connection)
        dump.reset_sequences(connection)

    migrations.fill(settings.database_url, manifest.schema, load, finish)


def _load(
    connection: Connection, folder: Path, table: TableFile, total: int, tell: Progress
) -> None:
    rows = read_lines(table_file(folder, table.name))
    for count in load_rows(connection, table.name, table.columns, rows):
        tell("storing rows", count, total)
