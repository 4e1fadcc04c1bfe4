"""A stream of a tar archive, with limits that `tarfile` does not have."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from typing import IO

from app.errors import BadCompetition

CHUNK_BYTES = 1 << 20
LONGEST_HEADER = 1 << 14  # bytes; tarfile reads names and pax headers in one piece
BLOCK = 512  # bytes
PAX_TYPES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
PAX_RECORD = re.compile(rb"([1-9][0-9]{0,5}) [^=\n]+=")
MANY_DIGITS = re.compile(rb"[0-9]{65}")
CHARSET = b"hdrcharset="
SPARSE = b"GNU.sparse.major="  # then tarfile reads a list of holes, however long it is


class TarStream(io.RawIOBase):
    """Reads forward only, `limit` bytes at most, and headers of at most 16 KiB.

    Without it a header of a few bytes makes `tarfile` read gigabytes into memory, and an archive
    that was truncated between two members looks complete. Headers are checked before `tarfile` gets
    them, because before Python 3.11.10 its time and memory grow with the square of a pax header.
    """

    def __init__(self, stream: IO[bytes], limit: int, too_large: str) -> None:
        super().__init__()
        self._stream = stream
        self._limit = limit
        self._too_large = too_large
        self._position = 0
        self._last = b""
        self._in_headers = True  # tarfile.open reads the headers of the first member
        self._is_pax = False

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """True, but only forward."""
        return True

    def tell(self) -> int:
        """The number of bytes that were read or skipped."""
        return self._position

    def next_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo | None:
        """The next member of the archive that reads this stream; None at the end."""
        self._in_headers = True
        member = archive.next()
        self._in_headers = False
        # tarfile keeps all members and global headers in memory, which nobody needs.
        archive.members = []  # type: ignore[attr-defined]
        archive.pax_headers = {}
        return member

    def read(self, size: int | None = -1, /) -> bytes:
        """The next `size` bytes, or fewer at the end."""
        if size is None or size < 0 or (self._in_headers and size > LONGEST_HEADER):
            raise tarfile.ReadError("a header is too long")
        data = self._take(min(size, CHUNK_BYTES))
        # Read in pieces: a header may declare more bytes than follow.
        if len(data) == CHUNK_BYTES < size:
            data = b"".join((data, *self._pieces(size - CHUNK_BYTES)))
        if self._is_pax:
            self._is_pax = False
            check_pax(data)
        elif self._in_headers and size == BLOCK:
            kind = data[156:157]
            if kind == tarfile.GNUTYPE_SPARSE:
                raise _sparse_file()
            self._is_pax = kind in PAX_TYPES
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Skip bytes up to `offset` from the start."""
        if whence != io.SEEK_SET or offset < self._position:
            raise tarfile.ReadError("members overlap")
        while self._position < offset:
            if not self._take(min(CHUNK_BYTES, offset - self._position)):
                raise tarfile.ReadError("unexpected end of data")
        return self._position

    def finish(self) -> None:
        """Check that the archive has the end of a tar, and read its padding and gzip's checksum.

        Raises:
            tarfile.ReadError: the archive was cut, or a header is missing.
        """
        if self._last != bytes(BLOCK):
            raise tarfile.ReadError("the end is missing")
        while self._take(CHUNK_BYTES):
            pass

    def _take(self, size: int) -> bytes:
        self._last = self._stream.read(size)
        self._position += len(self._last)
        if self._position > self._limit:
            raise _bad_archive(self._too_large)
        return self._last

    def _pieces(self, size: int) -> Iterator[bytes]:
        while data := self._take(min(CHUNK_BYTES, size)):
            size -= len(data)
            yield data


def check_pax(header: bytes) -> None:
    r"""Refuse a pax header that is not a list of records, or that is slow to search.

    >>> check_pax(b"12 path=a/b\n" + bytes(500))

    Raises:
        tarfile.ReadError: it is one that no packer writes.
        BadCompetition: it is of a sparse file.
    """
    position, end = 0, len(header.rstrip(b"\0"))
    while position < end:
        record = PAX_RECORD.match(header, position)
        stop = position + int(record[1]) if record else 0
        if record is None or not record.end() < stop <= end or header[stop - 1] != ord("\n"):
            raise tarfile.ReadError("a pax header is not well formed")
        if SPARSE in record[0]:
            raise _sparse_file()
        position = stop
    if MANY_DIGITS.search(header) or header.count(CHARSET) > 1:
        raise tarfile.ReadError("a pax header has too many digits or charsets")


def _sparse_file() -> BadCompetition:
    return _bad_archive("has a sparse file: pack it without --sparse")


def _bad_archive(message: str) -> BadCompetition:
    return BadCompetition([{"file": "archive", "key": "", "message": message}])
