"""A partial download: the data file, and a journal of the ranges that it has."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app.downloads.extents import Extents, Range
from app.errors import Conflict

PARTIAL, STATE = ".partial", ".state"
# After this number of new bytes or seconds, the data is synced and its range recorded.
SYNC_BYTES, SYNC_SECONDS = 32 << 20, 1.0


@dataclass(frozen=True, slots=True)
class Identity:
    """The length and the validator of a file on a server. They change if the file changes.

    The validator is the strong ETag, or the time of the last change; "" if there is neither.
    """

    bytes: int
    validator: str


class PartialFile:
    """The file `NAME.partial` of full length, and `NAME.state` with the ranges that are there.

    The first line of the state is the identity, each later one a range that was synced to disk.
    Once everything is there the file has its own name. One process at a time may have it open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._extents = Extents()
        self._pending: list[Range] = []
        self._unsynced = 0
        self._synced = time.monotonic()
        self._file = -1
        self.identity: Identity | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._state = os.open(
            self._beside(STATE), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644
        )
        try:
            fcntl.flock(self._state, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._state)
            raise Conflict(f"Another process is downloading {path.name}.") from None
        self._load()

    @property
    def file(self) -> Path:
        """The present path of the bytes."""
        return self._path if self._path.exists() else self._beside(PARTIAL)

    @property
    def is_complete(self) -> bool:
        """Whether every byte is there."""
        return self.identity is not None and self._path.exists()

    def begin(self, identity: Identity) -> bool:
        """Continue with the file of this identity, or start again. Returns whether it continues."""
        if self.identity == identity and self._file >= 0:
            return True
        self._close_file()
        if self.identity is None and self._has_length(identity.bytes):
            self.identity = identity  # somebody put the complete file there
            self._write_state()
            return True
        self._path.unlink(missing_ok=True)
        self._file = os.open(
            self._beside(PARTIAL), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644
        )
        os.truncate(self._file, identity.bytes)
        self.identity, self._extents, self._pending = identity, Extents(), []
        self._write_state()
        return False

    def write(self, start: int, data: bytes) -> None:
        """Write bytes at their position."""
        view = memoryview(data)
        while view:
            written = os.pwrite(self._file, view, start)
            self._pending.append((start, start + written))
            self._extents.add(start, start + written)
            self._unsynced += written
            start, view = start + written, view[written:]
        if self._unsynced >= SYNC_BYTES or time.monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Sync the written bytes, and record them. Renames the file if it is complete."""
        if self._pending:
            os.fdatasync(self._file)
            joined = Extents(self._pending).ranges()
            os.write(self._state, "".join(f"{json.dumps(one)}\n" for one in joined).encode())
            self._pending, self._unsynced = [], 0
        self._synced = time.monotonic()
        if self.identity and self._file >= 0 and not self.missing(0, self.identity.bytes):
            self._beside(PARTIAL).replace(self._path)
            self._close_file()

    def read(self, start: int, size: int) -> bytes:
        """Bytes that are there."""
        with self.file.open("rb") as file:
            file.seek(start)
            return file.read(size)

    def missing(self, start: int, end: int) -> list[Range]:
        """The parts of a range that are not there."""
        return [] if self._file < 0 and self.is_complete else self._extents.missing(start, end)

    def there(self) -> int:
        """The number of bytes that are there."""
        if self.is_complete and self.identity is not None:
            return self.identity.bytes
        return self._extents.total()

    def forget(self, ranges: list[Range]) -> None:
        """Note that these bytes are damaged, so that they are downloaded again."""
        assert self.identity is not None  # noqa: S101 (there was something to find damaged)
        self.sync()
        if self._file < 0:
            self._extents = Extents([(0, self.identity.bytes)])
            self._path.replace(self._beside(PARTIAL))
            self._file = os.open(self._beside(PARTIAL), os.O_RDWR | os.O_CLOEXEC)
        for start, end in ranges:
            self._extents.remove(start, end)
        self._write_state()

    def close(self) -> None:
        """Record what was written, and unlock the file for other processes."""
        self.sync()
        self._close_file()
        os.close(self._state)

    def _load(self) -> None:
        first, *rest = self._beside(STATE).read_bytes().split(b"\n")
        try:
            self.identity = Identity(**json.loads(first))
        except (ValueError, TypeError):
            return
        if self._path.exists():
            return
        partial = self._beside(PARTIAL)
        if not partial.exists() or partial.stat().st_size != self.identity.bytes:
            self.identity = None
            return
        self._file = os.open(partial, os.O_RDWR | os.O_CLOEXEC)
        for line in rest[:-1]:
            with contextlib.suppress(ValueError, TypeError):  # a line that was not finished
                self._extents.add(*json.loads(line))
        if rest and rest[-1]:
            os.write(self._state, b"\n")
        self.sync()

    def _write_state(self) -> None:
        assert self.identity is not None  # noqa: S101
        lines = [json.dumps(asdict(self.identity)), *map(json.dumps, self._extents.ranges()), ""]
        os.ftruncate(self._state, 0)
        os.write(self._state, "\n".join(lines).encode())
        os.fsync(self._state)

    def _has_length(self, length: int) -> bool:
        return self._path.exists() and self._path.stat().st_size == length

    def _beside(self, ending: str) -> Path:
        return self._path.with_name(self._path.name + ending)

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
