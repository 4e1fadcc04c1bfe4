"""A stream of a tar archive, with bounds that `tarfile` itself does not have."""

from __future__ import annotations

import io
import tarfile
from typing import IO

from app.errors import BadCompetition
from app.importers.names import problem

CHUNK_BYTES = 1 << 20
LONGEST_HEADER = CHUNK_BYTES  # bytes; tarfile reads names and pax headers in one piece
BLOCK = 512  # bytes


class TarStream(io.RawIOBase):
    """Reads forward only, `limit` bytes at most and never more than 1 MiB at a time.

    Without it a header of a few bytes makes `tarfile` read gigabytes into memory, and an archive
    that was cut between two members looks complete.
    """

    def __init__(self, stream: IO[bytes], limit: int, too_large: str) -> None:
        super().__init__()
        self._stream = stream
        self._limit = limit
        self._too_large = too_large
        self._position = 0
        self._last = b""

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """True; but only forward."""
        return True

    def tell(self) -> int:
        """Bytes read or skipped."""
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """The next `size` bytes, or fewer at the end."""
        if size is None or not 0 <= size <= LONGEST_HEADER:
            raise tarfile.ReadError("a header is too long")
        self._last = self._stream.read(size)
        self._position += len(self._last)
        if self._position > self._limit:
            raise BadCompetition([problem("archive", "", self._too_large)])
        return self._last

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Skip bytes up to `offset` from the start."""
        if whence != io.SEEK_SET or offset < self._position:
            raise tarfile.ReadError("members overlap")
        while self._position < offset:
            if not self.read(min(CHUNK_BYTES, offset - self._position)):
                raise tarfile.ReadError("unexpected end of data")
        return self._position

    def finish(self) -> None:
        """Check that the archive has the end of a tar, and read its padding and gzip's checksum.

        Raises:
            tarfile.ReadError: the archive was cut, or a header is missing.
        """
        if self._last != bytes(BLOCK):
            raise tarfile.ReadError("the end is missing")
        while self.read(CHUNK_BYTES):
            pass
