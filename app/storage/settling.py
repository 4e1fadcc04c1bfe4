"""Settling journals: their files are synced under their own names, and the journal is removed."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from app.storage.blobs_disk import DiskBlobs, sync_directory
from app.storage.journal import JOURNALS, is_abandoned, records

log = logging.getLogger("podium.storage")


def settle_abandoned(store: DiskBlobs) -> int:
    """Settle the journals that dead processes left; says how many files had to be written again.

    From then on every file that was ever stored lies where the store looks for it.
    """
    written = 0
    for path in sorted(store.root.glob(f"{JOURNALS}/*")):
        try:
            journal = path.open("rb")
        except FileNotFoundError:  # another process has just settled it
            continue
        with journal:
            if is_abandoned(journal):
                written += settle(store, path)
    if written:
        log.warning("wrote files again that a crash had taken", extra={"files": written})
    return written


def settle(store: DiskBlobs, path: Path) -> int:
    """Settle a journal that nobody writes to, and that is ours; says how many were written again.

    What the system has long written to disk by itself takes next to no time to sync.
    """
    written = 0
    directories = set()
    with path.open("rb") as journal:
        for sha256, body in records(journal):
            place = store.path(sha256)
            directories.add(place.parent)
            if not _sync_if_whole(place, body):
                place.unlink(missing_ok=True)
                store.put(body)
                written += 1
    for directory in directories:
        sync_directory(directory)
    path.unlink()
    return written


def _sync_if_whole(place: Path, body: bytes) -> bool:
    try:
        with place.open("rb") as file:
            if file.read(len(body) + 1) != body:
                return False
            os.fsync(file.fileno())
    except FileNotFoundError:
        return False
    return True
