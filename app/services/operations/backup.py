"""Back up a Podium while it runs: first a snapshot of its rows, then the files of these rows."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from sqlalchemy.orm import Session

from app import __version__
from app.errors import Conflict, DamagedFile, NotFound, StorageFull, Unavailable
from app.regular_file import file_digest
from app.services.operations.backup_format import (
    BLOB_LIST,
    BLOBS,
    FORMAT,
    MANIFEST,
    TABLES,
    UNREADABLE,
    BackupManifest,
    Progress,
    TableFile,
    blob_file,
    table_file,
)
from app.services.runtime.blob_store import store_alone
from app.services.runtime.context import require_postgres_of_queue
from app.settings import Settings
from app.storage.blobs.store import BlobStore, path_of
from app.storage.database import dump
from app.storage.database.database import Database
from app.storage.database.engine import DatabaseLimits
from app.storage.database.foreign_keys import broken_reference
from app.storage.database.jsonl import kinds_of, read_lines, rows_of, write_lines
from app.storage.database.revisions import current_revision, newest_revision
from app.storage.database.urls import sqlite_file
from app.storage.database.wait_for_database import wait_until_reachable
from app.sync_directory import sync_directory
from app.system_limits import is_disk_full
from app.thread_pool import map_concurrently

PARALLEL_COPIES = 8  # files copied at the same time
STATEMENT_SECONDS = 3600.0  # reading a large table takes longer than a request may


class NoBackupHere(Conflict):
    """A backup cannot be written there."""


class ChangedRow(Conflict):
    """A row has a value that Podium does not write, so somebody changed the database."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}. Somebody changed the database: no backup was made. `podium verify` names "
            "what else it finds. Mend the row, or go on from an earlier backup (`podium restore`)."
        )


def back_up(
    settings: Settings, folder: Path, progress: Progress, *, signing_keys: bool = False
) -> BackupManifest:
    """Write all of this Podium's data into `folder`, which must be new or empty.

    The manifest is written last: a backup without one is incomplete. Without `signing_keys`, a
    Podium restored from it signs with a new key.

    Raises:
        NoBackupHere: the folder is not empty, or the database has another schema than this Podium.
        UnknownSchema: the database does not say which schema it has.
        ChangedRow: a row has a value that Podium does not write.
        NotFound, QueueNeedsPostgres: there is no database, or not the one of a queue.
        DamagedFile: a stored file is missing or damaged, so a complete backup is not possible.
        StorageFull: the folder's disk is full.
        Unavailable: the database or the store went away.
    """
    require_postgres_of_queue(settings)
    file = sqlite_file(settings.database_url)
    if file is not None and not file.is_file():
        raise NotFound(f"There is no Podium to back up: no database at {file}.")
    limits = DatabaseLimits(readers=2, statement_seconds=STATEMENT_SECONDS)
    with contextlib.closing(Database(settings.database_url, limits=limits)) as database:
        wait_until_reachable(settings.database_url, 0)  # before a directory is made
        with database.read() as session:
            _require_schema(session)
        _create_folder(folder)
        with store_alone(settings) as blobs, _saying_what_to_do(folder):
            manifest = _write_rows(database, folder, progress, signing_keys=signing_keys)
            _copy_files(blobs, folder, manifest, progress)
            _finish(folder, manifest)
    return manifest


@contextlib.contextmanager
def _saying_what_to_do(folder: Path) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            f"{error.detail} The backup in {folder} is incomplete, and `podium restore` refuses "
            "it. Remove the folder, and back up again once that is over."
        ) from error
    except (OSError, StorageFull) as error:
        if isinstance(error, OSError) and not is_disk_full(error):
            raise
        raise StorageFull(
            f"The disk of {folder} is full: the backup there is incomplete, and `podium restore` "
            "refuses it. Remove the folder, free space, and back up again."
        ) from error


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if any(folder.iterdir()):
            unfinished = "" if (folder / MANIFEST).exists() else ", perhaps an unfinished backup"
            raise NoBackupHere(
                f"{folder} is not empty{unfinished}: name a new folder, or empty it first."
            )
        # A backup has answers. Nobody else may read it, whatever the mode of the folder is.
        (folder / TABLES).mkdir(mode=0o700)
        (folder / BLOBS).mkdir(mode=0o700)
    except OSError as error:
        raise NoBackupHere(f"{folder} cannot be written: {error.strerror}.") from None


def _write_rows(
    database: Database, folder: Path, progress: Progress, *, signing_keys: bool
) -> BackupManifest:
    tables = []
    with database.read() as session:  # one snapshot for all of it, however long it takes
        _require_schema(session)
        connection = session.connection()
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        if broken := broken_reference(connection, without=dump.EXCLUDED_TABLES):
            raise ChangedRow(f"A row refers to none: {broken}")
        for table in (to_copy := dump.backup_tables()):
            rows = rows_of(
                connection, table, without=dump.left_out(table, signing_keys=signing_keys)
            )
            try:
                file = write_lines(table_file(folder, table.name), rows)
            except UNREADABLE as error:
                raise ChangedRow(f"A row of {table.name} cannot be read ({error})") from None
            tables.append(TableFile(table.name, kinds_of(table), file))
            progress("reading tables", 1, len(to_copy))
        referenced = _ByteCounter(_distinct(dump.referenced_files(connection)))
        blobs = write_lines(folder / BLOB_LIST, referenced)
    return BackupManifest(
        format=FORMAT, podium=__version__, schema=newest_revision(), made_at=made_at,
        database=database.url.get_backend_name(), tables=tuple(tables), blobs=blobs,
        blob_bytes=referenced.total,
    )  # fmt: skip


class _ByteCounter:
    """Iterates over files and adds up their bytes."""

    def __init__(self, files: Iterable[tuple[str, int]]) -> None:
        self.total, self._files = 0, files

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for sha256, size in self._files:
            self.total += size
            yield sha256, size


def _distinct(files: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Each of the files once.

    Raises:
        ChangedRow: a digest is none, or a size is no whole number or not the same in all rows.
    """
    before = ""
    for (sha256, size), _ in groupby(files):
        try:
            path_of(sha256)
        except (TypeError, ValueError):
            raise ChangedRow(f"A row names a file by {sha256!r}, which is not a SHA-256") from None
        if not isinstance(size, int):
            raise ChangedRow(f"A row says that the file {sha256} has {size!r} bytes")
        if sha256 == before:
            raise ChangedRow(f"Two rows say differently how many bytes the file {sha256} has")
        before = sha256
        yield sha256, size


def _copy_files(
    blobs: BlobStore, folder: Path, manifest: BackupManifest, progress: Progress
) -> None:
    """Copy the files that the rows refer to. Files exist before their rows and never change.

    Raises:
        ChangedRow: a file has not as many bytes as its rows say.
        DamagedFile: it is missing or damaged.
    """

    def copy(line: tuple[str, int]) -> None:
        sha256, size = line
        target = blob_file(folder, sha256)
        target.parent.mkdir(exist_ok=True)
        found = blobs.fetch(sha256, target)
        if found != size:  # a restore would refuse the file
            raise ChangedRow(
                f"A row says that the file {sha256} has {size} bytes, and it has {found}"
            )
        _make_own(target)
        if file_digest(target) != (size, sha256):
            raise DamagedFile(
                f"{target} has other bytes than the store: the disk of the backup is damaged, or "
                "the file changed meanwhile. Back up again, to another disk if it stays so."
            )
        progress("copying files", size, manifest.blob_bytes)

    for _ in map_concurrently(copy, read_lines(folder / BLOB_LIST), concurrency=PARALLEL_COPIES):
        pass


def _make_own(target: Path) -> None:
    """Replace a hard link to the store's file by a copy, so that they are not damaged together."""
    if target.stat().st_nlink > 1:
        copy_path = target.with_name(f"{target.name}.copy")
        shutil.copyfile(target, copy_path)
        copy_path.replace(target)


def _finish(folder: Path, manifest: BackupManifest) -> None:
    os.sync()  # one sync for all files: a sync for each of many small files would be slow
    partial = folder / f"{MANIFEST}.partial"
    with partial.open("x") as file:
        file.write(manifest.as_json())
        file.flush()
        os.fsync(file.fileno())
    partial.rename(folder / MANIFEST)
    sync_directory(folder)


def _require_schema(session: Session) -> None:
    found = current_revision(session.connection())
    if found != newest_revision():
        raise NoBackupHere(
            f"The database's schema is at {found or 'nothing'}, and this Podium's at "
            f"{newest_revision()}: back up with the Podium that runs there, or upgrade the "
            "database first (podium db upgrade)."
        )
