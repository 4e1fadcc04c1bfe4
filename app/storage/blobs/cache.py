"""A bounded directory of what was fetched from elsewhere: the latest used stay."""

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

from app.storage.blobs.lease import Lease
from app.storage.blobs.upload import translate_disk_full

MAKING = "making"
BLOCK = 512  # bytes, in which st_blocks counts
SLACK = 16  # the directory is looked through when this part of its bound was added


class FileCache:
    """Files and directories under `root/<kind>/<directory>/<name>`, `max_bytes` of them.

    Several processes may share one root. What somebody holds a lease on is never removed, so that
    the bound is passed by what is in use, and by a sixteenth of it for each further process.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self._making = root / MAKING / uuid.uuid4().hex
        self._making.mkdir(parents=True)
        self._alive = _lock(self._making, fcntl.LOCK_SH)  # until this process ends
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[threading.Lock, int]] = {}
        self._unseen = max_bytes  # bytes added since the directory was looked through

    def get(self, key: str, make: Callable[[Path], None]) -> Lease:
        """What is kept under `key` (`kind/directory/name`); `make(path)` makes it if it is not.

        Of several threads that ask for the same, one makes it and the others wait.

        Raises:
            StorageFull: the disk takes no more.
        """
        place = self.root / key
        found = self._open(place)
        if found is not None:
            return found
        with self._alone(key):
            return self._open(place) or self._make(place, make)

    def add(self, key: str, file: Path) -> None:
        """Keep a file that is here already, by moving it."""
        place = self.root / key
        place.parent.mkdir(parents=True, exist_ok=True)
        size = _size(file)
        try:
            _name(file, place)
        except FileExistsError:
            file.unlink()
        else:
            self._count(size)

    def remove(self, key: str) -> None:
        """Forget one thing, unless somebody uses it."""
        self._remove(self.root / key)

    def sweep(self) -> None:
        """Remove what dead processes were making, and what is too much."""
        for left in (self.root / MAKING).iterdir():
            if left == self._making:
                continue
            with contextlib.suppress(OSError):
                descriptor = _lock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
                os.close(descriptor)
        self._evict()

    def close(self) -> None:
        """Remove what was being made; what is kept stays for the next process."""
        shutil.rmtree(self._making, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._alive)

    def bytes(self) -> int:
        """How much disk is taken just now."""
        return sum(size for _, _, size in self._entries())

    def _make(self, place: Path, make: Callable[[Path], None]) -> Lease:
        partial = self._making / uuid.uuid4().hex
        try:
            with translate_disk_full():
                make(partial)
                size = _size(partial)
                place.parent.mkdir(parents=True, exist_ok=True)
                # Locked before others can see it: it cannot be removed before it was used.
                descriptor = _lock(partial, fcntl.LOCK_SH)
                try:
                    _name(partial, place)
                except OSError as error:
                    os.close(descriptor)
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                        raise
                    # Another process made it meanwhile.
                    found = self._open(place)
                    return found or self._make(place, make)
        finally:
            _delete(partial)
        self._count(size)
        return Lease(place, descriptor)

    def _open(self, place: Path) -> Lease | None:
        while True:
            try:
                descriptor = _lock(place, fcntl.LOCK_SH)
            except FileNotFoundError:
                return None
            try:
                if _is_at(descriptor, place):
                    os.utime(place, ns=(time.time_ns(), os.fstat(descriptor).st_mtime_ns))
                    return Lease(place, descriptor)
            except FileNotFoundError:
                pass
            os.close(descriptor)  # it was removed between the two; perhaps another is there

    @contextlib.contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._lock:
            lock, waiting = self._waiting.get(key, (threading.Lock(), 0))
            self._waiting[key] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._waiting[key]
                if waiting == 1:
                    del self._waiting[key]
                else:
                    self._waiting[key] = lock, waiting - 1

    def _count(self, size: int) -> None:
        with self._lock:
            self._unseen += size
            is_much = self._unseen > self.max_bytes // SLACK
            if is_much:
                self._unseen = 0
        if is_much:
            self._evict()

    def _evict(self) -> None:
        """Remove the longest unused until a sixteenth of the bound is free."""
        found = sorted(self._entries())
        total = sum(size for _, _, size in found)
        for _, place, size in found:
            if total <= self.max_bytes - self.max_bytes // SLACK:
                return
            if self._remove(place):
                total -= size

    def _entries(self) -> Iterator[tuple[int, Path, int]]:
        for place in self.root.glob("*/*/*"):
            if place.parent.parent.name != MAKING:
                with contextlib.suppress(FileNotFoundError):
                    yield place.stat().st_atime_ns, place, _size(place)

    def _remove(self, place: Path) -> bool:
        try:
            descriptor = _lock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, FileNotFoundError):
            return False
        gone = self._making / uuid.uuid4().hex
        try:
            # Another may have removed it before it was locked, and a new one may be in use there.
            if not _is_at(descriptor, place):
                return False
            place.rename(gone)
        except FileNotFoundError:
            return False
        finally:
            os.close(descriptor)
        _delete(gone)
        return True


def _lock(path: Path, how: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_at(descriptor: int, place: Path) -> bool:
    now, there = place.stat(), os.fstat(descriptor)
    return (now.st_dev, now.st_ino) == (there.st_dev, there.st_ino)


def _name(made: Path, place: Path) -> None:
    """Move what was made to its place, where nothing is yet: never over what others may use.

    Raises:
        OSError: EEXIST or ENOTEMPTY where there is something.
    """
    if made.is_dir():
        made.rename(place)
    else:
        place.hardlink_to(made)
        made.unlink()


def _size(path: Path) -> int:
    """What a file or a directory takes of the disk; second names of other files take nothing."""
    found = path.stat()
    if not path.is_dir():
        return found.st_blocks * BLOCK if found.st_nlink == 1 else 0
    return found.st_blocks * BLOCK + sum(_size(below) for below in path.iterdir())


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
