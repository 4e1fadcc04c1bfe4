"""Compare files with their digests. A file that did not change since then is not read again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from cachetools import LRUCache

from app.errors import DamagedFile
from app.file_digest import file_digest
from app.storage.blobs.cache import FileCache
from app.storage.blobs.lease import Lease
from app.system_limits import is_used_up

REMEMBERED = 65_536  # files
Signature = tuple[int, int, int, int]
log = logging.getLogger("podium.storage")


def verify_file(path: Path, sha256: str) -> None:
    """Compare a stored file with its digest.

    Raises:
        DamagedFile: it is missing, cannot be read, or has other bytes.
        OSError: this process can open no more files.
    """
    try:
        found = file_digest(path)[1]
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


class VerifiedFiles:
    """Remembers which files had the right bytes, identified by inode, size and mtime."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: LRUCache[tuple[Path, str], Signature] = LRUCache(REMEMBERED)

    def require(self, path: Path, sha256: str) -> None:
        """Compare a file with its digest, unless it was compared and did not change since.

        Raises:
            DamagedFile: as `verify_file`.
        """
        signature = _signature(path)
        with self._lock:
            if signature is not None and self._known.get((path, sha256)) == signature:
                return
        verify_file(path, sha256)
        if signature is not None:
            with self._lock:
                self._known[path, sha256] = signature


def _signature(path: Path) -> Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def undamaged(
    cache: FileCache, key: str, make: Callable[[Path], None], require: Callable[[Path], None]
) -> Lease:
    """A lease on an entry of the cache. One that `require` finds damaged is made again, once.

    Raises:
        DamagedFile: it is damaged again, or another lease keeps the damaged one.
    """
    lease = cache.get(key, make)
    try:
        require(lease.path)
    except DamagedFile as error:
        lease.close()
        log.warning("a cached copy is damaged", extra={"copy": key, "reason": error.detail})
        cache.remove(key)
        lease = cache.get(key, make)
        require(lease.path)
    return lease
