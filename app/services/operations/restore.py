"""Restore a backup into an empty Podium: verify it, store its files, then its rows."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.errors import BadSettings, DamagedFile, DiskReserved, StorageFull
from app.services.operations.backup_format import (
    BLOB_LIST,
    BackupManifest,
    Progress,
    blob_file,
    verified,
)
from app.services.operations.restore_rows import require_empty_database, store_rows
from app.services.operations.unfinished_restore import begin_restore, end_restore
from app.services.runtime.blob_store import open_store
from app.services.runtime.context import lock_data_directory, require_postgres_of_queue
from app.services.runtime.scratch import FOLDER
from app.services.runtime.version_files import version_directories
from app.settings import Settings
from app.storage.blobs.disk_reserve import WHAT_TO_DO
from app.storage.blobs.store import BlobStore
from app.storage.database.jsonl import read_lines
from app.storage.database.wait_for_database import wait_until_reachable
from app.system_limits import is_disk_full
from app.thread_pool import map_concurrently
from app.units import CHUNK_BYTES

PARALLEL_COPIES = 8  # files stored at the same time


def restore(settings: Settings, folder: Path, progress: Progress) -> BackupManifest:
    """Restore the backup in `folder`.

    Files are stored first: without rows they are invisible, and storing them again changes nothing.
    The rows are stored last, in one transaction. Submissions that were being graded at the time of
    the backup are queued.

    Raises:
        BadBackup: a file is missing or damaged, or a newer Podium made it; nothing was written.
        NotEmpty: the database has rows; nothing was written.
        DataDirectoryInUse: a server runs on this data directory.
        QueueNeedsPostgres: as for a server; nothing was written.
        BadSettings, StoreAway, StorageFull, Unavailable: no row was written.
    """
    require_postgres_of_queue(settings)
    _refuse_inside(settings, folder)  # before anything is made there
    wait_until_reachable(settings.database_url, 0)  # before a directory is made
    lock = lock_data_directory(settings.data_dir)
    try:
        require_empty_database(settings)
        begin_restore(settings, folder)
        try:
            manifest = verified(folder, progress)
        except BaseException:
            end_restore(settings)
            raise
        with _naming_full_disk(settings):
            _store_files(settings, folder, manifest, progress)
        _remove_copies(settings)
        store_rows(settings, folder, manifest, progress)
        end_restore(settings)
    finally:
        os.close(lock)
    return manifest


def _refuse_inside(settings: Settings, folder: Path) -> None:
    """Refuse to restore into the backup, which could not be restored any more."""
    store = urlsplit(settings.blobs_url)
    places = {"PODIUM_DATA_DIR": settings.data_dir}
    if store.scheme == "file":
        places["PODIUM_BLOBS_URL"] = Path(unquote(store.path))
    for name, place in places.items():
        if place.resolve().is_relative_to(folder.resolve()):
            raise BadSettings(
                f"{name} is {str(place)!r}: expected a place outside the backup {folder}, which "
                "files made there would damage. Name the place to restore into; nothing was "
                "written."
            )


@contextlib.contextmanager
def _naming_full_disk(settings: Settings) -> Iterator[None]:
    """Add to an error of a full disk which disk it is, and that nothing was restored."""
    try:
        yield
    except (OSError, StorageFull) as error:
        if isinstance(error, OSError) and not is_disk_full(error):
            raise
        reserved = error.detail if isinstance(error, DiskReserved) else ""
        is_elsewhere = settings.blobs_url != (settings.data_dir / "blobs").as_uri()
        store = f", or that of {settings.blobs_url}," if is_elsewhere else ""
        raise StorageFull(
            f"The disk of {settings.data_dir}{store} has no room for the backup's files: no row "
            f"was restored. {reserved.removesuffix(WHAT_TO_DO)}Free space there, and restore again."
        ) from error


def _store_files(
    settings: Settings, folder: Path, manifest: BackupManifest, progress: Progress
) -> None:
    blobs, cache = open_store(settings)

    def store(line: tuple[str, int]) -> None:
        sha256, size = line
        source = blob_file(folder, sha256)
        with source.open("rb") as file, blobs.new_upload() as upload:
            while chunk := file.read(CHUNK_BYTES):
                upload.write(chunk)
            stored = upload.finish()
        if stored.sha256 != sha256:
            raise DamagedFile(f"{source} changed while it was restored. No row was restored.")
        _read_again(blobs, sha256, Path(scratch))
        progress("storing files", size, manifest.blob_bytes)

    try:
        blobs.check()
        # The next server removes what a killed process left there.
        work = settings.data_dir / FOLDER
        work.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            for _ in map_concurrently(
                store, read_lines(folder / BLOB_LIST), concurrency=PARALLEL_COPIES
            ):
                pass
    finally:
        cache.close()


def _remove_copies(settings: Settings) -> None:
    """Remove versions that an earlier Podium unpacked here, because graders would read them."""
    for directory in version_directories(settings.data_dir / "competitions"):
        if directory.is_symlink():
            directory.unlink()
        else:
            shutil.rmtree(directory)


def _read_again(blobs: BlobStore, sha256: str, scratch: Path) -> None:
    """Verify the stored bytes, because the store may have had a damaged file of this name."""
    copy = scratch / sha256
    try:
        blobs.fetch(sha256, copy)
    except DamagedFile as error:
        advice = "Remove it there and restore again; no row was restored."
        raise DamagedFile(f"{error.detail} {advice}") from None
    copy.unlink()
