"""Small files on their way into a store on this machine's disk: synced together, not one by one.

A file of its own needs two syncs, one of its bytes and one of its directory. For a file of a few
kilobytes that is nearly all it costs, and under load each waits for those of the others. So all
that come at one time go into a journal, which is synced once; then the files are written, without
a sync. Later, when the system has long written them to disk by itself, they are synced too, and
the journal is removed. After a crash whatever a journal holds is written again if it is not there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Sequence

from app.errors import StorageFull
from app.storage.blobs.disk import DiskBlobs, sync_directory
from app.storage.blobs.journal import JOURNALS, Journal
from app.storage.blobs.journal_recovery import recover
from app.storage.blobs.store import Blob, path_of
from app.storage.blobs.upload import translate_disk_full

FULL = 32 * 1024 * 1024  # bytes of a journal, after which the next one is begun
REST_SECONDS = 60.0  # before a full one is settled: Linux writes what is dirty after 30 seconds
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
log = logging.getLogger("podium.storage")


class SmallFiles:
    """Puts files of at most `LARGEST_BODY` bytes where a store on this disk looks for them.

    Used by one thread; several processes may share one root.
    """

    def __init__(self, store: DiskBlobs) -> None:
        self._store = store
        self._journals = store.root / JOURNALS
        self._journals.mkdir(exist_ok=True)
        sync_directory(store.root)
        self._journal: Journal | None = None

    def put_all(self, bodies: Sequence[bytes]) -> list[Blob | StorageFull]:
        """Store files: synced when this returns. The error in the place of one without room.

        Raises:
            StorageFull: the disk takes no more; nothing was stored.
        """
        digests = [hashlib.sha256(body) for body in bodies]
        keeping = zip((digest.digest() for digest in digests), bodies, strict=True)
        with translate_disk_full():
            self._append(list(keeping))
        outcomes: list[Blob | StorageFull] = []
        for digest, body in zip(digests, bodies, strict=True):
            blob = Blob(digest.hexdigest(), len(body))
            try:
                with translate_disk_full():
                    self._write(blob, body)
                outcomes.append(blob)
            except StorageFull as error:
                outcomes.append(error)
        if self._journal is not None and self._journal.bytes >= FULL:
            self._end_journal()
        return outcomes

    def close(self) -> None:
        """Write no more. What the journal holds is settled after the next start."""
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
            # A daemon: what it does not come to is done after the next start.
            timer = threading.Timer(REST_SECONDS, self._settle, (journal,))
            timer.daemon = True
            timer.start()

    def _write(self, blob: Blob, body: bytes) -> None:
        place = f"{self._store.root}/{path_of(blob.sha256)}"  # Path takes as long as the rest
        try:
            descriptor = os.open(place, NEW, 0o440)
        except FileExistsError:
            # Whole, or begun just now by another, or cut short: the store looks, and mends it.
            if os.stat(place).st_size != blob.bytes:  # noqa: PTH116
                self._store.put(body)
            return
        try:
            _write_whole(descriptor, body)
        except OSError:
            os.unlink(place)  # noqa: PTH108
            raise
        finally:
            os.close(descriptor)

    def _settle(self, journal: Journal) -> None:
        try:
            recover(self._store, journal.path)
        except (OSError, StorageFull):
            # Nothing is lost: the journal stays, and is settled after the next start.
            log.exception("a journal of small files could not be settled")
        finally:
            journal.close()


def _write_whole(descriptor: int, body: bytes) -> None:
    written = os.write(descriptor, body)
    while written < len(body):  # the disk is nearly full: the next write says so
        written += os.write(descriptor, body[written:])
