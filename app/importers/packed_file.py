"""Read gzip files. Files of very many small members, which take long to unpack, are refused."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import IO, Any, cast

CHUNK_BYTES = 128 * 1024
READ_BYTES = 32 * 1024  # bytes of the packed file at a time; the bytes after a member are copied
# A gzip file consists of members: bgzip's have 64 KB each, the smallest have 20 bytes. To begin one
# takes as long as to unpack some kilobytes.
MOST_SMALL = 20_000
SMALL_BYTES = 1024  # unpacked, on average
FIRST = b"\x1f\x8b"


def is_packed(stream: IO[bytes]) -> bool:
    """Whether a file starts like a gzip file."""
    start = stream.read(len(FIRST))
    stream.seek(0)
    return start == FIRST


def unpacked(stream: IO[bytes]) -> IO[bytes]:
    """The unpacked bytes of a gzip file. Reading raises the errors of `gzip` for a damaged one.

    Raises:
        BadGzipFile: while it is read, if it is joined of very many small members.
    """
    return cast(IO[bytes], io.BufferedReader(_Members(stream), CHUNK_BYTES))


class _Members(io.RawIOBase):
    """The bytes of all members, one after another, without the padding between them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._packed = b""
        self._decoder = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._is_within = False  # a member has begun, and has not ended
        self._members = 0
        self._bytes = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill a part of the buffer; 0 at the end."""
        view = memoryview(buffer)
        while True:
            if not self._packed:
                self._packed = self._stream.read(READ_BYTES)
                if not self._packed:
                    return self._end()
            if not self._is_within and not self._begin():
                continue
            piece = self._decoder.decompress(self._packed, len(view))
            if self._decoder.eof:
                self._packed, self._is_within = self._decoder.unused_data, False
            else:
                self._packed = self._decoder.unconsumed_tail
            if piece:
                self._bytes += len(piece)
                view[: len(piece)] = piece
                return len(piece)

    def _begin(self) -> bool:
        """Begin the next member; False if there is only padding so far."""
        if self._members:
            self._packed = self._packed.lstrip(b"\0")
            if not self._packed:
                return False
        self._members += 1
        if self._members > MOST_SMALL and self._bytes < SMALL_BYTES * self._members:
            raise gzip.BadGzipFile(f"more than {MOST_SMALL:,} small gzip members: pack it as one")
        self._decoder = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._is_within = True
        return True

    def _end(self) -> int:
        if self._is_within:
            raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        return 0
