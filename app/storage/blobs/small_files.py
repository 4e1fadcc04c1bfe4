"""Store small files on this machine's disk with one sync for many files.

A single file needs two syncs: one of its bytes and one of its directory. For a file of a few
kilobytes that is most of the cost, and under load each sync waits for others. So files that arrive
together are appended to a journal, which is synced once, and are then written without a sync.
Later, after the system has written them to disk, they are synced and the journal is removed. After
a crash, recovery writes again each file of a journal that is missing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from app.errors import StorageFull
from app.read_settings import require_usable
from app.storage.blobs.disk import DiskBlobs, renew_blob
from app.storage.blobs.journal import JOURNALS, Journal, recover
from app.storage.blobs.store import Blob, path_of
from app.storage.blobs.upload import translate_disk_full, translate_store_away
from app.sync_directory import sync_directory

JOURNAL_BYTES = 32 * 1024 * 1024  # the size after which a new journal is begun
RECOVERY_DELAY_SECONDS = 60.0  # for a full journal: Linux writes dirty pages after 30 seconds
NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
log = logging.getLogger("podium.storage")


class SmallFiles:
    """Writes files of at most `MAX_BODY_BYTES` bytes into a store on this disk.

    Only one thread may use it. Several processes may share one root.
    """

    def __init__(self, store: DiskBlobs) -> None:
        self._store = store
        self._journals = store.root / JOURNALS
        self._journals.mkdir(exist_ok=True)
        require_usable(self._journals)
        sync_directory(store.root)
        self._journal: Journal | None = None
        self._closed = threading.Event()

    def put_all(self, files: Sequence[tuple[Blob, bytes]]) -> list[Exception | None]:
        """Store files, each with its digest. They are synced when this returns.

        A file that cannot be stored yields its error, the others None.

        Raises:
            StorageFull: the disk is full, or nearly; nothing was stored.
            StoreAway: the store's directory is not there; nothing was stored.
        """
        self._store.require_there()
        self._store.reserve.require(sum(blob.bytes for blob, _ in files))
        with translate_disk_full(), translate_store_away():
            self._append([(bytes.fromhex(blob.sha256), body) for blob, body in files])
        outcomes: list[Exception | None] = []
        for blob, body in files:
            try:
                with translate_disk_full(), translate_store_away():
                    self._write(blob, body)
                outcomes.append(None)
            except Exception as error:  # no space, or its path is used; the other files are stored
                outcomes.append(error)
        if self._journal is not None and self._journal.bytes >= JOURNAL_BYTES:
            self._end_journal()
        return outcomes

    def close(self) -> None:
        """Stop writing. The journals are recovered at the next start."""
        self._closed.set()
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _append(self, bodies: Sequence[tuple[bytes, bytes]]) -> None:
        if self._journal is None:
            self._journal = Journal(self._journals)
        try:
            self._journal.append(bodies)
        except OSError:
            self._end_journal()
            raise

    def _end_journal(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            # A daemon thread: if it does not run in time, the next start recovers the journal.
            thread = threading.Thread(target=self._recover, args=(journal,), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads; the files are stored nevertheless
                journal.close()

    def _write(self, blob: Blob, body: bytes) -> None:
        path = f"{self._store.root}/{path_of(blob.sha256)}"  # a Path would double the time
        try:
            descriptor = os.open(path, NEW_FILE_FLAGS, 0o440)
        except FileExistsError:
            # It is complete, or another process is writing it, or it is damaged: `put` repairs it.
            if not renew_blob(Path(path), blob):
                self._store.put(body)
            return
        try:
            _write_all(descriptor, body)
        except OSError:
            _remove_own(path, descriptor)
            raise
        finally:
            os.close(descriptor)

    def _recover(self, journal: Journal) -> None:
        try:
            if not self._closed.wait(RECOVERY_DELAY_SECONDS):
                recover(self._store, journal.path)
        except (OSError, StorageFull):
            # Nothing is lost: the journal stays and is recovered at the next start.
            log.exception("cannot recover a journal of small files")
        finally:
            journal.close()


def _remove_own(path: str, descriptor: int) -> None:
    """Remove an incomplete file, unless another process has put a complete one at its path."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116
            os.unlink(path)  # noqa: PTH108


def _write_all(descriptor: int, body: bytes) -> None:
    written = os.write(descriptor, body)
    while written < len(body):  # the disk is nearly full: the next write raises
        written += os.write(descriptor, body[written:])
