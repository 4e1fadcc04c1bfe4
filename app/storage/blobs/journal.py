"""A journal of small files: it makes many of them outlive a crash of the machine by one sync.

Records follow one another, each a head and a body. A journal that nobody writes to any more may
end in half a record, and nowhere else.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from app.storage.blobs.disk import sync_directory

JOURNALS = "journals"  # their directory, in that of the store
LARGEST_BODY = 1024 * 1024
PARALLEL_WRITES = 1000  # buffers for one writev; the kernel takes 1024
_HEAD = struct.Struct("<8sQ32s")  # a mark, the body's length, its SHA-256
_MARK = b"podium\r\n"


class Journal:
    """A living process's journal. A lock says so, which the kernel takes back from the dead."""

    def __init__(self, directory: Path) -> None:
        """Begin a journal.

        Raises:
            OSError: it cannot be made, or the disk is full.
        """
        self._descriptor = -1
        while self._descriptor < 0 or not os.fstat(self._descriptor).st_nlink:
            self.close()  # another process took it for a dead one's before it had its lock
            self.path = directory / uuid.uuid4().hex
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        self.bytes = 0
        sync_directory(directory)

    def append(self, bodies: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep bodies, each after its SHA-256: they are on disk, synced, when this returns.

        Raises:
            OSError: some may be there, some not. Nothing may be appended any more: what follows
                half a record cannot be read.
        """
        buffers: list[bytes] = []
        for digest, body in bodies:
            buffers += (_HEAD.pack(_MARK, len(body), digest), body)
        for start in range(0, len(buffers), PARALLEL_WRITES):
            self._write(buffers[start : start + PARALLEL_WRITES])
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Give the journal up: others may settle it from now on. May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, buffers: Sequence[bytes]) -> None:
        written = os.writev(self._descriptor, buffers)
        self.bytes += written
        if written < sum(map(len, buffers)):  # the disk is nearly full: the next write says so
            rest = memoryview(b"".join(buffers))[written:]
            while rest:
                written = os.write(self._descriptor, rest)
                rest = rest[written:]


def is_abandoned(file: BinaryIO) -> bool:
    """Whether an open journal was left by a dead process; then it is ours until it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # Settled between our opening and locking it: its name is gone, or will never come again.
    return os.fstat(file.fileno()).st_nlink > 0


def records(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """What a journal holds: each body after its SHA-256 in hex, up to one that is not whole."""
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        mark, length, digest = _HEAD.unpack(head)
        if mark != _MARK or length > LARGEST_BODY:
            return
        body = file.read(length)
        if hashlib.sha256(body).digest() != digest:
            return
        yield digest.hex(), body
