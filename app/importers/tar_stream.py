"""The bytes of a tar archive, handed to `tarfile` with bounds it does not have itself."""

from __future__ import annotations

import io
import tarfile
from typing import IO

from app.errors import BadCompetition
from app.importers.names import problem

CHUNK = 1 << 20
LONGEST_HEADER = CHUNK  # bytes; tarfile reads names and pax headers in one piece
BLOCK = 512  # bytes


class TarStream(io.RawIOBase):
    """Reads forward only, `limit` bytes at most and never more than 1 MiB at a time.

    Without it a header of a few bytes makes `tarfile` read gigabytes into memory, and an archive
    that was cut between two members passes for a whole one.
    """

    def __init__(self, plain: IO[bytes], limit: int, refusal: str) -> None:
        super().__init__()
        self._plain = plain
        self._limit = limit
        self._refusal = refusal
        self._position = 0
        self._last = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """Forward."""
        return True

    def tell(self) -> int:
        """Bytes read or passed over."""
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """The next `size` bytes, or fewer at the end."""
        if size is None or not 0 <= size <= LONGEST_HEADER:
            raise tarfile.ReadError("a header is too long")
        self._last = self._plain.read(size)
        self._position += len(self._last)
        if self._position > self._limit:
            raise BadCompetition([problem("archive", "", self._refusal)])
        return self._last

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Pass over bytes up to `offset` from the start."""
        if whence != io.SEEK_SET or offset < self._position:
            raise tarfile.ReadError("members overlap")
        while self._position < offset:
            if not self.read(min(CHUNK, offset - self._position)):
                raise tarfile.ReadError("unexpected end of data")
        return self._position

    def finish(self) -> None:
        """Check that the archive ended as a tar ends, and read what pads it (and gzip's checksum).

        Raises:
            tarfile.ReadError: it was cut, or there is no header where one should be.
        """
        if self._last != bytes(BLOCK):
            raise tarfile.ReadError("the end is missing")
        while self.read(CHUNK):
            pass
