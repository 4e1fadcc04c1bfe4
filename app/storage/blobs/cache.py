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

from app.errors import StorageFull, StoreAway
from app.storage.blobs.cached_files import delete, is_at, lock, new_partial, rename_new, size_of
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.key_turns import KeyTurns
from app.storage.blobs.lease import Lease
from app.storage.blobs.upload import translate_disk_full, translate_store_away

PARTIAL = "making"
FETCHED = "fetched files ('cache' in PODIUM_DATA_DIR)"
FRUITLESS_SECONDS = 10.0  # between attempts to free space that others use up
SLACK_FRACTION = 16  # sizes are measured again after 1/16 of the limit was added


class FileCache:
    """Files and directories under `root/<kind>/<directory>/<name>`, `max_bytes` of them.

    Several processes may share one root. A file with an open lease is never removed. So the cache
    may exceed its limit by the size of the files in use, and by 1/16 for each further process. If
    the disk is smaller than the limit, entries are removed for new ones, and for the space that
    `reserve` keeps free.
    """

    def __init__(self, root: Path, max_bytes: int, reserve: DiskReserve | None = None) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self._reserve = reserve or DiskReserve(root)
        self._next_attempt = 0.0  # to free the reserve; later if the last one freed nothing
        self.partial, self._alive = new_partial(root / PARTIAL)
        self._lock = threading.Lock()
        self._turns = KeyTurns()
        self._unmeasured = max_bytes  # bytes added since the sizes were measured

    def get(self, key: str, make: Callable[[Path], None]) -> Lease:
        """A lease on the entry `key` (`kind/directory/name`). `make(path)` makes a missing entry.

        If several threads need the same entry, one makes it and the others wait. If the store is
        away, they all fail, so that not each of them waits in vain.

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
                return self._make_in_room(path, make)
            except StoreAway as failure:
                turn.failure = failure
                raise

    def add(self, key: str, file: Path) -> None:
        """Move a file of this machine into the cache."""
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        size = size_of(file)
        try:
            rename_new(file, path)
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
            if leftover == self.partial:
                continue
            with contextlib.suppress(OSError):
                descriptor = lock(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(leftover, ignore_errors=True)
                os.close(descriptor)
        self._evict_beyond_limit()

    def close(self) -> None:
        """Remove this process's unfinished files. The entries stay for the next process."""
        shutil.rmtree(self.partial, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._alive)

    def bytes(self) -> int:
        """The disk space in use, in bytes."""
        return sum(size for _, _, size in self._entries())

    def _make_in_room(self, path: Path, make: Callable[[Path], None]) -> Lease:
        """Make an entry. If the disk is full, the least recently used entries are removed."""
        while True:
            partial = self.partial / uuid.uuid4().hex
            try:
                return self._make(path, make, partial)
            except StorageFull as full:
                if isinstance(full.__cause__, OSError) and full.__cause__.errno == errno.EFBIG:
                    raise  # the limit for one file's size: removing other files would not help
                made = size_of(partial) if partial.exists() else 0
                with translate_disk_full(FETCHED), translate_store_away(FETCHED):
                    delete(partial)
                    if not self._give_way(made):
                        raise
            finally:
                delete(partial)

    def _give_way(self, size: int) -> bool:
        """Remove half of the cache, and at least `size` bytes. Returns whether it shrank.

        Nothing is removed if all entries together have fewer bytes, which would not make room.
        """
        total = self.bytes()
        return 0 < total >= size and self._evict(min(total // 2, total - size))

    def _make(self, path: Path, make: Callable[[Path], None], partial: Path) -> Lease:
        with translate_disk_full(FETCHED), translate_store_away(FETCHED):
            partial.parent.mkdir(parents=True, exist_ok=True)  # somebody removed it to free space
            make(partial)
            size = size_of(partial)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Lock it before others can see it, so that nobody removes it before its use.
            descriptor = lock(partial, fcntl.LOCK_SH)
            try:
                rename_new(partial, path)
            except OSError as error:
                os.close(descriptor)
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                # Another process has made it meanwhile.
                delete(partial)
                return self._open(path) or self._make(path, make, partial)
        lease = Lease(path, descriptor)  # from here on the lease closes the descriptor
        self._count(size)
        return lease

    def _open(self, path: Path) -> Lease | None:
        while True:
            try:
                descriptor = lock(path, fcntl.LOCK_SH)
            except FileNotFoundError:
                return None
            lease = Lease(path, descriptor)
            with contextlib.suppress(FileNotFoundError):
                if is_at(descriptor, path):
                    # The file can be read even if the disk is read-only.
                    with contextlib.suppress(OSError):
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
            self._evict_beyond_limit()
        self._keep_reserve()

    def _keep_reserve(self) -> None:
        """Remove half of the entries if the reserve is near, as long as that frees something."""
        with contextlib.suppress(OSError):  # somebody removed the directory
            may_free = time.monotonic() > self._next_attempt and self._reserve.is_near()
            if may_free and not self._give_way(0):
                self._next_attempt = time.monotonic() + FRUITLESS_SECONDS

    def _evict_beyond_limit(self) -> None:
        """Remove the least recently used entries until 1/16 of the limit is free."""
        self._evict(self.max_bytes - self.max_bytes // SLACK_FRACTION)

    def _evict(self, left: int) -> bool:
        """Remove the least recently used until `left` bytes remain. Returns whether it shrank.

        If no more remain, another thread or process has just removed some.
        """
        found = sorted(self._entries())
        total = sum(size for _, _, size in found)
        has_shrunk = total <= left
        for _, path, size in found:
            if total <= left:
                break
            if self._remove(path):
                has_shrunk = True
                total -= size
        return has_shrunk

    def _entries(self) -> Iterator[tuple[int, Path, int]]:
        # Not by one pattern, because directories below PARTIAL may vanish while it is matched.
        for kind in self.root.iterdir():
            if kind.name != PARTIAL:
                for path in kind.glob("*/*"):
                    with contextlib.suppress(FileNotFoundError):
                        yield path.stat().st_atime_ns, path, size_of(path)

    def _remove(self, path: Path) -> bool:
        try:
            descriptor = lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, FileNotFoundError):
            return False
        removed = self.partial / uuid.uuid4().hex
        try:
            # Another process may have replaced the entry before it was locked here.
            if not is_at(descriptor, path):
                return False
            path.rename(removed)
        except FileNotFoundError:
            return False
        finally:
            os.close(descriptor)
        delete(removed)
        return True
