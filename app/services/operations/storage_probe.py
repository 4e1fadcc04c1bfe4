"""Whether the data directory and the store of files can be written at the moment."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from app.errors import PodiumError
from app.services.runtime.context import Context
from app.storage.database.wait_for_database import has_full_disk

DATABASE_FULL = "the disk of the database is full: what writes is refused with 507"
PROBE_SECONDS = 0.25  # between two probes
LONGEST_WAIT = 1.0  # seconds to wait for another request's probe; a hanging store takes longer
PROBING = threading.Lock()


@dataclass(frozen=True, slots=True)
class StorageState:
    """Why the storage does not work, or "ok". Strangers and agents do not read where it is."""

    detail: str
    for_strangers: str


def storage_state(context: Context) -> StorageState:
    """The state of the storage in this quarter of a second.

    A probe writes to the disk and to the blob store, and strangers may ask as often as they like.
    So of requests at the same moment one probes, and the others wait for its result.
    """
    has_turn = PROBING.acquire(timeout=LONGEST_WAIT)
    try:
        found: StorageState | None = context.kept.get("storage", probe_number())
        if found is None:
            found = probe_storage(context)
            context.kept.put("storage", probe_number(), found, len(found.detail))
        return found
    finally:
        if has_turn:
            PROBING.release()


def probe_number() -> int:
    """The number of this quarter of a second."""
    return int(time.monotonic() / PROBE_SECONDS)


def probe_storage(context: Context) -> StorageState:
    """Write to the data directory, and query the blob store. No files stay."""
    # Each probe has its own name, because two at a time would remove each other's file.
    probe = context.settings.data_dir / f"probe.{uuid.uuid4().hex}"
    found = "ok"
    try:
        try:
            probe.write_bytes(b"podium")
        finally:
            probe.unlink(missing_ok=True)
        if _has_full_database(context):
            found = DATABASE_FULL
        else:
            context.blobs.check()
    except OSError as error:
        found = f"the data directory cannot be written: {error.strerror}"
    except PodiumError as error:
        return StorageState(str(error), error.for_strangers)
    return StorageState(found, found)


def _has_full_database(context: Context) -> bool:
    """Whether SQLite's file is on a full disk, which need not be that of the data directory."""
    file = context.database.url.database
    if not context.database.is_sqlite or not file:
        return False
    directory = Path(file).parent
    is_elsewhere = directory.stat().st_dev != context.settings.data_dir.stat().st_dev
    return is_elsewhere and has_full_disk(directory)
