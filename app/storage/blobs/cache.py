"""A directory of limited size for fetched files. The least recently used are removed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from app.errors import StoreAway
from app.storage.blobs.key_turns import KeyTurns
from app.storage.blobs.lease import Lease
from app.storage.blobs.upload import translate_disk_full, translate_store_away

PARTIAL = "making"
BLOCK_BYTES = 512  # the unit of st_blocks
FETCHED = "fetched files ('cache' in PODIUM_DATA_DIR)"
SLACK_FRACTION = 16  # sizes are measured again after 1/16 of the limit was added


class FileCache:
    """Files and directories under `root/<kind>/<directory>/<name>`, `max_bytes` of them.

    Several processes may share one root. A file with an open lease is never removed. So the cache
    may exceed its limit by the size of the files in use, and by 1/16 for each further process.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self._partial, self._alive = _new_partial(root / PARTIAL)
        self._lock = threading.Lock()
        self._turns = KeyTurns()
        self._unmeasured = max_bytes  # bytes added since the sizes were measured

    def get(self, key: str, make: Callable[[Path], None]) -> Lease:
        """A lease on the entry `key` (`kind/directory/name`). `make(path)` makes a missing entry.

        If several threads need the same entry, one makes it and the others wait. If the store is
        away, they all fail: one after another would wait in vain.

        Raises:
            StorageFull: the disk is full.
            StoreAway: `make` raised it, or the disk of the cache fails or is read-only.
        """
        path = self.root / key
        found = self._open(path)
        if found is not None:
            return found
        with self._turns.turn(key) as turn:
            found = self._open(path)
            if found is not None:
                return found
            if turn.failure is not None:
                first = turn.failure
                raise StoreAway(first.detail, for_strangers=first.for_strangers)
            try:
                return self._make(path, make)
            except StoreAway as failure:
                turn.failure = failure
                raise

    def add(self, key: str, file: Path) -> None:
        """Move a file of this machine into the cache."""
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        size = _size(file)
        try:
            _rename_new(file, path)
        except FileExistsError:
            file.unlink()
        else:
            self._count(size)

    def remove(self, key: str) -> None:
        """Remove an entry, unless it is in use.

        Raises:
            StoreAway: the disk of the cache fails or is read-only.
        """
        with translate_store_away(FETCHED):
            self._remove(self.root / key)

    def sweep(self) -> None:
        """Remove the unfinished files of dead processes, and entries beyond the limit."""
        for leftover in (self.root / PARTIAL).iterdir():
            if leftover == self._partial:
                continue
            with contextlib.suppress(OSError):
                descriptor = _lock(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(leftover, ignore_errors=True)
                os.close(descriptor)
        self._evict()

    def close(self) -> None:
        """Remove this process's unfinished files. The entries stay for the next process."""
        shutil.rmtree(self._partial, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._alive)

    def bytes(self) -> int:
        """The disk space in use, in bytes."""
        return sum(size for _, _, size in self._entries())

    def _make(self, path: Path, make: Callable[[Path], None]) -> Lease:
        partial = self._partial / uuid.uuid4().hex
        try:
            with translate_disk_full(FETCHED), translate_store_away(FETCHED):
                partial.parent.mkdir(parents=True, exist_ok=True)  # whoever cleans disks removed it
                make(partial)
                size = _size(partial)
                path.parent.mkdir(parents=True, exist_ok=True)
                # Lock it before others can see it, so that nobody removes it before its use.
                descriptor = _lock(partial, fcntl.LOCK_SH)
                try:
                    _rename_new(partial, path)
                except OSError as error:
                    os.close(descriptor)
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                        raise
                    # Another process has made it meanwhile.
                    found = self._open(path)
                    return found or self._make(path, make)
        finally:
            _delete(partial)
        lease = Lease(path, descriptor)  # which closes the descriptor, whatever fails now
        self._count(size)
        return lease

    def _open(self, path: Path) -> Lease | None:
        while True:
            try:
                descriptor = _lock(path, fcntl.LOCK_SH)
            except FileNotFoundError:
                return None
            lease = Lease(path, descriptor)
            with contextlib.suppress(FileNotFoundError):
                if _is_at(descriptor, path):
                    with contextlib.suppress(OSError):  # a disk that is read-only can be read
                        os.utime(path, ns=(time.time_ns(), os.fstat(descriptor).st_mtime_ns))
                    return lease
            lease.close()  # removed after it was opened; there may be a new entry

    def _count(self, size: int) -> None:
        with self._lock:
            self._unmeasured += size
            is_due = self._unmeasured > self.max_bytes // SLACK_FRACTION
            if is_due:
                self._unmeasured = 0
        if is_due:
            self._evict()

    def _evict(self) -> None:
        """Remove the least recently used entries until 1/16 of the limit is free."""
        found = sorted(self._entries())
        total = sum(size for _, _, size in found)
        for _, path, size in found:
            if total <= self.max_bytes - self.max_bytes // SLACK_FRACTION:
                return
            if self._remove(path):
                total -= size

    def _entries(self) -> Iterator[tuple[int, Path, int]]:
        # Not by one pattern: below PARTIAL directories vanish while it is matched.
        for kind in self.root.iterdir():
            if kind.name != PARTIAL:
                for path in kind.glob("*/*"):
                    with contextlib.suppress(FileNotFoundError):
                        yield path.stat().st_atime_ns, path, _size(path)

    def _remove(self, path: Path) -> bool:
        try:
            descriptor = _lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, FileNotFoundError):
            return False
        removed = self._partial / uuid.uuid4().hex
        try:
            # Another process may have replaced the entry before it was locked here.
            if not _is_at(descriptor, path):
                return False
            path.rename(removed)
        except FileNotFoundError:
            return False
        finally:
            os.close(descriptor)
        _delete(removed)
        return True


def _new_partial(root: Path) -> tuple[Path, int]:
    """A new directory, and the descriptor that has its lock until this process ends."""
    while True:
        directory = root / uuid.uuid4().hex
        directory.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError):
            descriptor = _lock(directory, fcntl.LOCK_SH)
            if directory.exists():
                return directory, descriptor
            os.close(descriptor)  # another process swept it before it was locked


def _lock(path: Path, mode: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_at(descriptor: int, path: Path) -> bool:
    now, there = path.stat(), os.fstat(descriptor)
    return (now.st_dev, now.st_ino) == (there.st_dev, there.st_ino)


def _rename_new(new: Path, path: Path) -> None:
    """Move a new file or directory to its path. Never replace an entry that others may use.

    Raises:
        OSError: EEXIST or ENOTEMPTY if there is an entry at the path.
    """
    if new.is_dir():
        new.rename(path)
    else:
        path.hardlink_to(new)
        new.unlink()


def _size(path: Path) -> int:
    """The disk space of a file or directory in bytes. Hard links to other files count as 0."""
    found = path.stat()
    if not path.is_dir():
        return found.st_blocks * BLOCK_BYTES if found.st_nlink == 1 else 0
    return found.st_blocks * BLOCK_BYTES + sum(_size(below) for below in path.iterdir())


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):  # missing, or its disk fails: `sweep` removes it
            path.unlink()
