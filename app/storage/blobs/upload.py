"""Uploads into a store: write the bytes to this machine's disk and hash them as they arrive."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app.errors import StorageFull, StoreAway
from app.storage.blobs.disk_reserve import DiskReserve
from app.system_limits import is_disk_full

CHECKED_BYTES = 16 << 20  # the free disk space is checked after this many bytes of an upload
# The directory was removed or unmounted, or its disk fails.
SUBMITTED = "submitted files"
AWAY = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EROFS, errno.EIO, errno.ESTALE})


@dataclass(frozen=True, slots=True)
class Blob:
    """Stored bytes: their SHA-256 in hex, and their number."""

    sha256: str
    bytes: int


Keep = Callable[[Path, int, Blob], bool]


class Spool:
    """A directory of unfinished uploads. Several processes may share it."""

    def __init__(self, directory: Path, reserve_percent: float) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.reserve = DiskReserve(directory, reserve_percent)

    def new_upload(self, keep: Keep) -> Upload:
        """Begin an upload. `keep(path, descriptor, blob)` stores the complete file.

        `keep` returns whether it moved the file away.

        Raises:
            DiskReserved: the disk is nearly full.
        """
        self.reserve.require()
        return Upload(self.directory / uuid.uuid4().hex, keep, self.reserve)

    def sweep(self) -> int:
        """Remove the unfinished uploads of dead processes. Returns the number of files.

        The file of a live upload is locked. The kernel releases the lock when its process dies.
        """
        removed = 0
        for path in self.directory.iterdir():
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                if not stat.S_ISREG(path.lstat().st_mode):  # nobody uploads a folder or a pipe
                    continue
                with path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                    removed += 1
        return removed


class Upload:
    """A file that is being uploaded. As a context manager it discards an unfinished upload."""

    def __init__(self, path: Path, keep: Keep, reserve: DiskReserve) -> None:
        self._keep = keep
        self._reserve = reserve
        self._checked = 0
        self._path = path
        self._sha256 = hashlib.sha256()
        self._bytes = 0
        self._is_moved = False
        self._descriptor: int | None = _open_locked(path)

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Append bytes.

        Raises:
            StorageFull: the disk is full, or nearly. The upload has been discarded.
            StoreAway: its disk fails or is gone. The upload has been discarded.
            ValueError: the upload was finished or discarded.
        """
        descriptor = self._open_descriptor()
        view = memoryview(data).cast("B")
        self._sha256.update(view)
        try:
            if self._bytes - self._checked >= CHECKED_BYTES:
                self._reserve.require(len(view))
                self._checked = self._bytes
            with translate_disk_full(), translate_store_away():
                written = 0
                while written < len(view):
                    written += os.write(descriptor, view[written:])
        except BaseException:
            self.discard()
            raise
        self._bytes += len(view)
        return len(view)

    def close(self) -> Path:
        """Stop writing. Returns the path of the unsynced bytes until `discard` or `finish`."""
        self._open_descriptor()
        return self._path

    def received(self) -> Blob:
        """The SHA-256 and the number of the bytes that were written so far."""
        return Blob(self._sha256.hexdigest(), self._bytes)

    def finish(self, keep: Keep | None = None) -> Blob:
        """Store the written bytes durably.

        `keep` replaces the function that the upload began with.

        Raises:
            StorageFull: the disk is full. The upload has been discarded.
            StoreAway: the store cannot be reached. The upload has been discarded.
            ValueError: the upload was finished or discarded.
        """
        descriptor = self._open_descriptor()
        blob = Blob(self._sha256.hexdigest(), self._bytes)
        try:
            with translate_disk_full(), translate_store_away():
                self._is_moved = (keep or self._keep)(self._path, descriptor, blob)
        finally:
            self.discard()
        return blob

    def discard(self) -> None:
        """Remove the unfinished file. Does nothing after `finish`, and may be called twice."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            if not self._is_moved:
                with contextlib.suppress(FileNotFoundError):  # moved by a `keep` that then failed
                    os.unlink(self._path)  # noqa: PTH108 (half of Path.unlink's time, every upload)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def _open_descriptor(self) -> int:
        if self._descriptor is None:
            raise ValueError("this upload was finished or discarded")
        return self._descriptor


@contextlib.contextmanager
def translate_disk_full(files: str = SUBMITTED) -> Iterator[None]:
    """Raise `StorageFull` for an OSError that means that the disk for `files` is full."""
    try:
        yield
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise StorageFull(f"The disk for {files} is full; nothing was stored.") from error


@contextlib.contextmanager
def translate_store_away(files: str = SUBMITTED) -> Iterator[None]:
    """Raise `StoreAway` for an OSError that means that the directory of `files` is not there."""
    try:
        yield
    except OSError as error:
        if error.errno not in AWAY:
            raise
        raise StoreAway(f"The directory of {files} cannot be written: {error.strerror}.") from error


def _open_locked(path: Path) -> int:
    # 0o440: protects stored files from being changed by mistake.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        with translate_disk_full(), translate_store_away():
            descriptor = os.open(path, flags, 0o440)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # a sweep removed the file before it was locked
