"""Submitted files on disk, stored once per content under their SHA-256, never changed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from app.errors import StorageFull

DIGEST = re.compile(r"[0-9a-f]{64}")
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
UPLOADS = "uploads"


@dataclass(frozen=True, slots=True)
class Blob:
    """Stored bytes: their SHA-256 in hex, and how many they are."""

    sha256: str
    bytes: int


class BlobStore:
    """Files under `root/ab/cdef...`, named by their SHA-256; uploads under way in `root/uploads`.

    Several processes may share one root.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._uploads = root / UPLOADS
        self._uploads.mkdir(parents=True, exist_ok=True)
        # All directories are made and synced now, so that storing a file has to sync only one.
        for number in range(256):
            (root / f"{number:02x}").mkdir(exist_ok=True)
        sync_directory(root)

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes come in pieces."""
        return Upload(self, self._uploads / uuid.uuid4().hex)

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StorageFull: the disk takes no more.
        """
        with self.new_upload() as upload:
            upload.write(data)
            return upload.finish()

    def path(self, sha256: str) -> Path:
        """Where the blob lies, or would lie.

        Raises:
            ValueError: `sha256` is not 64 lower-case hex digits.
        """
        if not DIGEST.fullmatch(sha256):
            raise ValueError("a blob is named by the 64 hex digits of its SHA-256")
        return self.root / sha256[:2] / sha256[2:]

    def sweep(self) -> int:
        """Remove what uploads of dead processes left behind; says how many files.

        An upload under way holds a lock on its file, which the kernel takes back from the dead.
        """
        removed = 0
        for path in self._uploads.iterdir():
            with contextlib.suppress(BlockingIOError, FileNotFoundError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
                removed += 1
        return removed


class Upload:
    """A file on its way into the store. As a context manager it discards itself if unfinished."""

    def __init__(self, store: BlobStore, path: Path) -> None:
        self._store = store
        self._path = path
        self._sha256 = hashlib.sha256()
        self._bytes = 0
        self._is_stored = False
        self._descriptor: int | None = _open_locked(path)

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Append bytes.

        Raises:
            StorageFull: the disk takes no more. The upload has been discarded.
            ValueError: the upload was finished or discarded.
        """
        descriptor = self._open_descriptor()
        view = memoryview(data).cast("B")
        self._sha256.update(view)
        try:
            with _naming_a_full_disk():
                written = 0
                while written < len(view):
                    written += os.write(descriptor, view[written:])
        except BaseException:
            self.discard()
            raise
        self._bytes += len(view)
        return len(view)

    def close(self) -> Path:
        """Where the bytes so far can be read, until `discard` or `finish`; they are not synced."""
        self._open_descriptor()
        return self._path

    def finish(self) -> Blob:
        """Store what was written, synced: it outlives a crash of the machine from here on.

        Raises:
            StorageFull: the disk takes no more. The upload has been discarded.
            ValueError: the upload was finished or discarded.
        """
        descriptor = self._open_descriptor()
        blob = Blob(self._sha256.hexdigest(), self._bytes)
        place = self._store.path(blob.sha256)
        try:
            with _naming_a_full_disk():
                if _size(place) != blob.bytes:  # absent, or cut short by something that was not us
                    os.fsync(descriptor)
                    self._path.rename(place)
                    self._is_stored = True
                # Also for one that was there: whoever put it there may not have synced it yet.
                sync_directory(place.parent)
        finally:
            self.discard()
        return blob

    def discard(self) -> None:
        """Remove the unfinished file. Does nothing after `finish`, and may be called twice."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if not self._is_stored:
            os.unlink(self._path)  # noqa: PTH108 (half the time of Path.unlink, on every upload)
        os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def _open_descriptor(self) -> int:
        if self._descriptor is None:
            raise ValueError("this upload was finished or discarded")
        return self._descriptor


def sync_directory(path: Path) -> None:
    """Make the names in a directory outlive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_locked(path: Path) -> int:
    # 0o440: what is in the store is never written again, not even by mistake.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        with _naming_a_full_disk():
            descriptor = os.open(path, flags, 0o440)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # a sweep came between the two and took the file for a dead one's


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _naming_a_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise StorageFull("The disk for submitted files is full; nothing was stored.") from error
