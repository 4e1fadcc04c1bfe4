"""The size of a zip's central directory, found before `zipfile` reads all of it into memory."""

from __future__ import annotations

import os
import struct
from typing import IO

END = struct.Struct("<4s4H2LH")  # end of central directory; its sixth field is the size in bytes
LOCATOR = struct.Struct("<4sLQL")  # follows a zip64 end record
END64 = struct.Struct("<4sQ2H2L4Q")  # its ninth field is the size in bytes
LONGEST_COMMENT = 1 << 16  # bytes, after the end record


def central_directory_bytes(stream: IO[bytes]) -> int:
    """The most bytes of the directory that `zipfile` reads; 0 if it finds none. Rewinds the file.

    The records are searched where `zipfile` searches them (PKWARE's APPNOTE, 4.3.14 to 4.3.16).
    """
    length = stream.seek(0, os.SEEK_END)
    tail_start = max(0, length - LONGEST_COMMENT - END.size - LOCATOR.size - END64.size)
    stream.seek(tail_start)
    tail = stream.read()
    stream.seek(0)
    end = len(tail) - END.size
    if end < 0:
        return 0
    if tail[end : end + 4] != b"PK\x05\x06" or tail[-2:] != b"\0\0":
        end = tail.rfind(b"PK\x05\x06", max(0, end - LONGEST_COMMENT))
    if end < 0 or end + END.size > len(tail):
        return 0
    size = int(END.unpack_from(tail, end)[5])
    locator = tail[max(0, end - LOCATOR.size) : end]
    if len(locator) < LOCATOR.size or not locator.startswith(b"PK\x06\x07"):
        return size
    # Versions of Python use different records: up to 3.11.13 the one before the locator, from then
    # on the one that the locator names.
    before = tail_start + end - LOCATOR.size - END64.size
    named = int(LOCATOR.unpack(locator)[2])
    return max(_size_in_record(stream, at) for at in {before, named}) or size


def _size_in_record(stream: IO[bytes], at: int) -> int:
    """The bytes that a zip64 end record states; 0 if there is none. Rewinds the file."""
    record = b""
    if 0 <= at < stream.seek(0, os.SEEK_END):
        stream.seek(at)
        record = stream.read(END64.size)
    stream.seek(0)
    if len(record) < END64.size or not record.startswith(b"PK\x06\x06"):
        return 0
    return int(END64.unpack(record)[8])
