"""Files on their way into a store: written to this machine's disk and hashed as they come."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from app.errors import StorageFull

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class Blob:
    """Stored bytes: their SHA-256 in hex, and how many they are."""

    sha256: str
    bytes: int


Keep = Callable[[Path, int, Blob], bool]


class Spool:
    """A directory of files on their way. Several processes may share it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def new_upload(self, keep: Keep) -> Upload:
        """Begin a file. `keep(path, descriptor, blob)` stores it when it is whole.

        It says whether it moved the file away.
        """
        return Upload(self.directory / uuid.uuid4().hex, keep)

    def sweep(self) -> int:
        """Remove what uploads of dead processes left behind; says how many files.

        An upload under way holds a lock on its file, which the kernel takes back from the dead.
        """
        removed = 0
        for path in self.directory.iterdir():
            with contextlib.suppress(BlockingIOError, FileNotFoundError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
                removed += 1
        return removed


class Upload:
    """A file on its way into the store. As a context manager it discards itself if unfinished."""

    def __init__(self, path: Path, keep: Keep) -> None:
        self._keep = keep
        self._path = path
        self._sha256 = hashlib.sha256()
        self._bytes = 0
        self._is_moved = False
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
            with translate_disk_full():
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

    def finish(self, keep: Keep | None = None) -> Blob:
        """Store what was written: it outlives a crash of the machine from here on.

        `keep` stores it in another way than the store that began the upload.

        Raises:
            StorageFull: the disk takes no more. The upload has been discarded.
            StoreAway: the store cannot be reached. The upload has been discarded.
            ValueError: the upload was finished or discarded.
        """
        descriptor = self._open_descriptor()
        blob = Blob(self._sha256.hexdigest(), self._bytes)
        try:
            with translate_disk_full():
                self._is_moved = (keep or self._keep)(self._path, descriptor, blob)
        finally:
            self.discard()
        return blob

    def discard(self) -> None:
        """Remove the unfinished file. Does nothing after `finish`, and may be called twice."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if not self._is_moved:
            with contextlib.suppress(FileNotFoundError):  # moved by a `keep` that failed after it
                os.unlink(self._path)  # noqa: PTH108 (half the time of Path.unlink, every upload)
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


@contextlib.contextmanager
def translate_disk_full() -> Iterator[None]:
    """Raise `StorageFull` where the system says that there is no room."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise StorageFull("The disk for submitted files is full; nothing was stored.") from error


def _open_locked(path: Path) -> int:
    # 0o440: what is in the store is never written again, not even by mistake.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        with translate_disk_full():
            descriptor = os.open(path, flags, 0o440)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # a sweep came between the two and took the file for a dead one's
