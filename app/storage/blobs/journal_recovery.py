"""Recover journals: sync or rewrite the files that a journal lists, then remove the journal."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from app.storage.blobs.concurrency import map_concurrently
from app.storage.blobs.disk import DiskBlobs, sync_directory
from app.storage.blobs.journal import JOURNALS, is_abandoned, records

CONCURRENT_SYNCS = 16
log = logging.getLogger("podium.storage")


def recover_abandoned(store: DiskBlobs) -> int:
    """Recover the journals that dead processes left. Returns the number of rewritten files.

    After that every stored file is at its path in the store.
    """
    rewritten = 0
    for path in sorted(store.root.glob(f"{JOURNALS}/*")):
        try:
            journal = path.open("rb")
        except FileNotFoundError:  # another process has just recovered it
            continue
        with journal:
            if is_abandoned(journal):
                rewritten += recover(store, path)
    if rewritten:
        log.warning("rewrote files that were lost in a crash", extra={"files": rewritten})
    return rewritten


def recover(store: DiskBlobs, path: Path) -> int:
    """Recover a journal that this process has locked. Returns the number of rewritten files.

    Most of the files are on disk already. Yet each sync waits for the disk to flush its cache, and
    concurrent syncs share one flush.
    """
    rewritten = 0
    directories = set()
    with path.open("rb") as journal:
        records_by_path = ((store.path(sha256), body) for sha256, body in records(journal))
        for blob_path, missing in map_concurrently(
            _sync, records_by_path, concurrency=CONCURRENT_SYNCS
        ):
            directories.add(blob_path.parent)
            if missing is not None:
                blob_path.unlink(missing_ok=True)
                store.put(missing)
                rewritten += 1
    for _ in map_concurrently(sync_directory, directories, concurrency=CONCURRENT_SYNCS):
        pass
    path.unlink()
    return rewritten


def _sync(record: tuple[Path, bytes]) -> tuple[Path, bytes | None]:
    """Sync a file. Returns its path, and its bytes if the file has to be written again."""
    blob_path, body = record
    try:
        with blob_path.open("rb") as file:
            if file.read(len(body) + 1) != body:
                return blob_path, body
            os.fsync(file.fileno())
    except FileNotFoundError:
        return blob_path, body
    return blob_path, None
