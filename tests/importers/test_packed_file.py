"""Files packed with gzip are read as `gzip` reads them, whatever members they are joined of."""

from __future__ import annotations

import gzip
import io
import random
import zlib

import pytest

from app.importers.packed_file import is_packed, unpacked

TEXT = b"id,target\n1,0.5\n" * 5000


def members(size: int, padding: bytes = b"") -> bytes:
    """The text as members of so many bytes each."""
    parts = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    return b"".join(gzip.compress(part, mtime=0) + padding for part in parts)


@pytest.mark.parametrize("size", [1 << 20, 65_536, 4_096, 7_001, 17])
@pytest.mark.parametrize("padding", [b"", bytes(3), bytes(70_000)])
def test_all_members_are_read(size: int, padding: bytes) -> None:
    data = members(size, padding) if size > 17 or not padding else members(4096, padding)
    assert unpacked(io.BytesIO(data)).read() == TEXT
    assert is_packed(io.BytesIO(data))

    stream, found = unpacked(io.BytesIO(data)), b""
    choose = random.Random(size)
    while piece := stream.read(choose.randrange(1, 9000)):
        found += piece
    assert found == TEXT


def test_members_that_are_many_and_not_small_are_read() -> None:
    """As bgzip makes them of a file of more than a gigabyte."""
    one = gzip.compress(bytes(65_536), mtime=0)
    stream, size = unpacked(io.BytesIO(one * 20_100)), 0
    while piece := stream.read(1 << 20):
        size += len(piece)
    assert size == 20_100 * 65_536


@pytest.mark.parametrize("made", [b"", gzip.compress(b"", mtime=0), gzip.compress(b"x", mtime=0)])
def test_many_small_members_are_refused(made: bytes) -> None:
    packed = (made or members(1 << 20)) + gzip.compress(b"", mtime=0) * 20_200
    with pytest.raises(gzip.BadGzipFile, match="more than 20,000 small gzip members"):
        unpacked(io.BytesIO(packed)).read()


def test_what_is_cut_or_damaged_is_refused() -> None:
    data = members(30_000)
    first = gzip.compress(TEXT[:30_000], mtime=0)
    for cut in range(1, len(first)):
        with pytest.raises(EOFError):
            unpacked(io.BytesIO(data[:cut])).read()
    with pytest.raises(EOFError):
        unpacked(io.BytesIO(data[:-1])).read()
    with pytest.raises(zlib.error):
        unpacked(io.BytesIO(data + b"rubbish")).read()
    damaged = bytearray(data)
    damaged[-8] ^= 1  # of the last member's checksum
    with pytest.raises(zlib.error, match="incorrect data check"):
        unpacked(io.BytesIO(bytes(damaged))).read()
