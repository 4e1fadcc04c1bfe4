"""Settling journals: their files are synced under their own names, and the journal is removed."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from app.storage.blobs.concurrency import map_concurrently
from app.storage.blobs.disk import DiskBlobs, sync_directory
from app.storage.blobs.journal import JOURNALS, is_abandoned, records

SYNCS = 16  # at once
log = logging.getLogger("podium.storage")


def recover_abandoned(store: DiskBlobs) -> int:
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
                written += recover(store, path)
    if written:
        log.warning("wrote files again that a crash had taken", extra={"files": written})
    return written


def recover(store: DiskBlobs, path: Path) -> int:
    """Settle a journal that nobody writes to, and that is ours; says how many were written again.

    The system has long written most of it to disk by itself. Yet each sync waits for the disk to
    empty its cache, and those that wait at the same time wait for the same emptying.
    """
    written = 0
    directories = set()
    with path.open("rb") as journal:
        kept = ((store.path(sha256), body) for sha256, body in records(journal))
        for place, missing in map_concurrently(_sync, kept, at_once=SYNCS):
            directories.add(place.parent)
            if missing is not None:
                place.unlink(missing_ok=True)
                store.put(missing)
                written += 1
    for _ in map_concurrently(sync_directory, directories, at_once=SYNCS):
        pass
    path.unlink()
    return written


def _sync(kept: tuple[Path, bytes]) -> tuple[Path, bytes | None]:
    """Where a file lies or should lie, and its bytes if they have to be written again."""
    place, body = kept
    try:
        with place.open("rb") as file:
            if file.read(len(body) + 1) != body:
                return place, body
            os.fsync(file.fileno())
    except FileNotFoundError:
        return place, body
    return place, None
