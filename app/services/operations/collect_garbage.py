"""Remove stored files that no row names.

Refused submissions, failed imports, and servers that died after they stored the bytes and before
they wrote the row leave such files. They are removed only long after every upload that could need
them has ended; `app.storage.blobs.removal` explains what happens to an upload of the same bytes at
the same time.
"""

from __future__ import annotations

import contextlib
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.orm import Session

from app.prometheus_metrics import GC_BYTES, GC_FILES, GC_LAST
from app.services.operations.start_checks import require_own_store
from app.services.runtime.blob_store import store_and_database
from app.services.runtime.context import Context
from app.services.runtime.scratch import FOLDER
from app.services.runtime.version_files import directory_of, version_directories
from app.settings import Settings
from app.storage.blobs.removal import remove_old
from app.storage.blobs.unreferenced import (
    OldFile,
    OldFiles,
    unreferenced_blobs,
    unreferenced_staged,
)
from app.storage.database import dump
from app.storage.database.engine import DatabaseLimits
from app.storage.queries import competitions, pending_uploads
from app.units import HOUR

# Reading the digests of all rows takes longer than a request may.
LIMITS = DatabaseLimits(statement_seconds=3600.0)


@dataclass(frozen=True, slots=True)
class Removable:
    """A file of the store, or a version's directory, that no row names."""

    kind: str
    path: str
    bytes: int
    file: OldFile | None = None  # None: it is a directory


def unreferenced(settings: Settings, *, age_hours: float) -> list[Removable]:
    """The files that could be removed: no row names them, and they are older than `age_hours`.

    Raises:
        ForeignStore: another database uses this store.
        Unavailable: the database is away.
        StoreAway: the store is away.
    """
    with store_and_database(settings, LIMITS) as (store, database):
        require_own_store(database, store)
        files = store.old_files()
        before = _before(files, age_hours)
        with database.read() as session:
            found = [*_in_store(session, files, before)]
            found += unused_directories(session, settings.data_dir / "competitions", before)
    return found


def remove(settings: Settings, found: list[Removable], *, age_hours: float) -> list[Removable]:
    """Remove what `unreferenced` found, unless it is needed by now. Returns what was removed.

    Raises:
        Unavailable, StoreAway: the database or the store is away.
    """
    with store_and_database(settings, LIMITS) as (store, database):
        files = store.old_files()
        before = _before(files, age_hours)
        removed = []
        for one in found:
            if one.file is None:
                is_gone = _remove_directory(Path(one.path), before, settings.data_dir / FOLDER)
            else:
                is_gone = files.remove(one.file, before)
            if is_gone:
                removed.append(one)
                GC_FILES.labels(one.kind).inc()
                GC_BYTES.labels(one.kind).inc(one.bytes)
        with database.read() as session:
            files.settle(_named(session), before)
    GC_LAST.set_to_current_time()
    return removed


def sweep(context: Context) -> list[Removable]:
    """Find and remove such files by the settings. A server calls this from time to time."""
    age = context.settings.gc_age_hours
    return remove(context.settings, unreferenced(context.settings, age_hours=age), age_hours=age)


def _before(files: OldFiles, age_hours: float) -> float:
    """Files that were changed after this time (Unix time) are not removed.

    The earlier of two clocks is used. If this machine's clock were ahead of the store's by more
    than the age, files whose rows are being written would look old.
    """
    return min(time.time(), files.now()) - age_hours * HOUR


def _named(session: Session) -> Iterator[str]:
    return (sha256 for sha256, _ in dump.referenced_files(session.connection()))


def _in_store(session: Session, files: OldFiles, before: float) -> Iterator[Removable]:
    for file in unreferenced_blobs(files, _named(session), before):
        yield Removable("blob", file.place, file.bytes, file)
    # Nobody can submit an expired upload. The next upload of anybody removes its row.
    pending = pending_uploads.names(session, datetime.fromtimestamp(before, UTC))
    for file in unreferenced_staged(files, pending, before):
        yield Removable("upload", file.place, file.bytes, file)


def _remove_directory(directory: Path, before: float, trash: Path) -> bool:
    def move_and_delete(path: Path) -> None:
        trash.mkdir(parents=True, exist_ok=True)
        moved = trash / uuid.uuid4().hex
        path.rename(moved)
        shutil.rmtree(moved, ignore_errors=True)

    return remove_old(directory, before, move_and_delete)


def unused_directories(session: Session, root: Path, before: float) -> Iterator[Removable]:
    """The directories of versions that have no row: an import failed before it was written."""
    known = {
        directory_of(root, slug, content_hash)
        for slug, content_hash in competitions.all_hashes(session)
    }
    for path in version_directories(root):
        with contextlib.suppress(FileNotFoundError):  # another sweep has just removed it
            if path not in known and path.stat().st_mtime < before:
                size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
                yield Removable("version", str(path), size)
