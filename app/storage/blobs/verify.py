"""Compare files with their digests. A file that has not changed since is not read again."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cachetools import LRUCache, TTLCache

from app.errors import DamagedFile, StoreAway
from app.regular_file import file_digest
from app.storage.blobs.cache import FETCHED, FileCache
from app.storage.blobs.key_turns import KeyTurns
from app.storage.blobs.lease import Lease
from app.system_limits import is_used_up

REMEMBERED = 65_536  # files
# Only for a minute: a disk may read the file again later, without a change of the file.
REMEMBERED_FAILURES, FAILED_SECONDS = 1024, 60.0
Signature = tuple[int, int, int, int]
log = logging.getLogger("podium.storage")


def verify_file(path: Path, sha256: str) -> int:
    """Compare a stored file with its digest, and return how many bytes it has.

    Raises:
        DamagedFile: it is missing, cannot be read, or has other bytes.
        OSError: this process can open no more files.
    """
    try:
        size, found = file_digest(path)
    except OSError as error:
        if is_used_up(error):
            raise  # this says nothing about the file
        raise DamagedFile(
            f"The stored file {path} cannot be read: {error.strerror}. Restore it from a backup."
        ) from None
    if found != sha256:
        raise DamagedFile(
            f"The stored file {path} is damaged: its bytes have the SHA-256 {found}, and not "
            f"{sha256}. Restore it from a backup."
        )
    return size


def verify_staged(path: Path, sha256: str) -> None:
    """Compare a staged file with its digest, before it becomes a blob.

    Raises:
        DamagedFile: it cannot be read, or has other bytes than were received.
        FileNotFoundError: it is not there, or not any more.
    """
    try:
        verify_file(path, sha256)
    except DamagedFile:
        path.stat()
        raise DamagedFile(f"The staged file {path} is damaged: send the file again.") from None


class VerifiedFiles:
    """Remembers which files had the right or the wrong bytes, by inode, size, mtime and ctime.

    With `of_cache` the ctime does not count: a `FileCache` changes it at each use of a file.
    """

    def __init__(self, *, of_cache: bool = False) -> None:
        self._of_cache = of_cache
        self._lock = threading.Lock()
        self._known: LRUCache[tuple[Path, str], Signature] = LRUCache(REMEMBERED)
        self._failures: TTLCache[tuple[Path, str], tuple[Signature, str]] = TTLCache(
            REMEMBERED_FAILURES, FAILED_SECONDS
        )
        self._turns = KeyTurns()

    def require(self, path: Path, sha256: str) -> None:
        """Compare a file with its digest, unless it was compared and has not changed since.

        A failure is also remembered, for a minute, because otherwise each attempt at a grading
        would read all files.

        If several threads need the same file, one reads it and the others wait. Otherwise an agent
        that requests a large file many times at once would use all processors.

        Raises:
            DamagedFile: as `verify_file`.
        """
        if self._is_known(path, sha256, self._signature(path)):
            return
        with self._turns.turn((path, sha256)) as turn:
            signature = self._signature(path)
            if self._is_known(path, sha256, signature):
                return
            if turn.failure is not None:
                raise DamagedFile(turn.failure.detail)
            with self._lock:
                failed = self._failures.get((path, sha256))
            if failed is not None and failed[0] == signature:
                raise DamagedFile(failed[1])
            try:
                verify_file(path, sha256)
            except DamagedFile as failure:
                turn.failure = failure
                if signature is not None:
                    with self._lock:
                        self._failures[path, sha256] = signature, failure.detail
                raise
            if signature is not None:
                with self._lock:
                    self._known[path, sha256] = signature

    def _signature(self, path: Path) -> Signature | None:
        found = signature(path)
        return (*found[:3], 0) if found and self._of_cache else found

    def _is_known(self, path: Path, sha256: str, signature: Signature | None) -> bool:
        with self._lock:
            return signature is not None and self._known.get((path, sha256)) == signature


@dataclass(frozen=True, slots=True)
class FilesAsSeen:
    """Files and their signatures, to find out quickly whether any has changed."""

    paths: tuple[str, ...]
    signatures: tuple[Signature | None, ...]

    @classmethod
    def now(cls, paths: Iterable[Path]) -> Self:
        """The present signatures of the files."""
        names = tuple(map(str, paths))
        return cls(names, tuple(map(signature, names)))

    def are_the_same(self) -> bool:
        """Whether there are files, all of them existed, and none has changed."""
        return (
            bool(self.paths)
            and None not in self.signatures
            and all(
                signature(path) == seen
                for path, seen in zip(self.paths, self.signatures, strict=True)
            )
        )


def signature(path: Path | str) -> Signature | None:
    """The inode, size, mtime and ctime of a file; None if it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 (a Path costs more than the call)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def undamaged(
    cache: FileCache, key: str, make: Callable[[Path], None], require: Callable[[Path], None]
) -> Lease:
    """A lease on an entry of the cache. If `require` finds it damaged, it is made again, once.

    Raises:
        DamagedFile: `make` raised it.
        StoreAway: it is damaged again, so this disk fails: the bytes were right when received.
    """
    lease = cache.get(key, make)
    try:
        require(lease.path)
    except DamagedFile as error:
        lease.close()
        log.warning("a cached copy is damaged", extra={"copy": key, "reason": error.detail})
        cache.remove(key)
        lease = cache.get(key, make)
        try:
            require(lease.path)
        except DamagedFile as again:
            lease.close()
            raise StoreAway(f"The disk for {FETCHED} does not keep what is written.") from again
    return lease
