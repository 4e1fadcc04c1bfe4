"""The size of a zip's central directory, before zipfile reads it: what zipfile then finds."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO

import pytest

from app.importers.zip_directory import central_directory_bytes

EMPTY = b"PK\x05\x06" + bytes(18)
FIVE = EMPTY[:12] + b"\x05" + EMPTY[13:]  # its directory would have five bytes


def packed(comment: bytes = b"", before: bytes = b"") -> bytes:
    stream = BytesIO()
    stream.write(before)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.comment = comment
        for name in ("a", "bb", "ccc"):
            archive.writestr(name, b"")
    return stream.getvalue()


def found(data: bytes) -> int:
    stream = BytesIO(data)
    stream.seek(len(data) // 2)
    size = central_directory_bytes(stream)
    assert stream.tell() == 0
    return size


@pytest.mark.parametrize("comment", [b"", b"\0", b"x", b"x" * 35_000, b"x" * 65535])
@pytest.mark.parametrize("is_zip64", [False, True])
def test_the_size_is_that_of_the_directory_that_zipfile_reads(
    comment: bytes, is_zip64: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_zip64:
        monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    for before in (b"", b"#!/bin/sh\n", b"x" * 100_000):
        data = packed(comment, before)
        end = data.index(b"PK\x05\x06")
        (size,) = struct.unpack_from("<L", data, end + 12)
        with zipfile.ZipFile(BytesIO(data)) as archive:
            assert data[archive.start_dir : archive.start_dir + size].count(b"PK\x01\x02") == 3
        assert found(data) == size
        if is_zip64:
            unknown = data[: end + 12] + b"\xff" * 4 + data[end + 16 :]
            assert found(unknown) == found(b"before" + unknown) == size
            assert found(unknown[: end - 20] + b"between" + unknown[end - 20 :]) == size


def test_an_end_record_at_the_start_is_read() -> None:
    assert [found(one) for one in (EMPTY, FIVE, FIVE[:20] + b"\x01\0x")] == [0, 5, 5]


def test_a_size_that_looks_like_a_record_is_read() -> None:
    """zipfile looks for another record only where this one has a comment."""
    assert found(EMPTY[:12] + EMPTY[:4] + EMPTY[16:]) == int.from_bytes(EMPTY[:4], "little")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(21),
        bytes(22),
        EMPTY[:-1],
        b"x" + EMPTY[:-1],
        bytes(70_000),
        EMPTY + b"x" * 65537,
        packed(b"PK\x05\x06" * 6),
        EMPTY[:12] + EMPTY[:4] + bytes(4) + b"\x01\0",
    ],
)
def test_none_is_found_where_zipfile_finds_none(data: bytes) -> None:
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(BytesIO(data))
    assert found(data) == 0


def test_a_locator_that_leads_to_no_record_is_passed_over() -> None:
    for named in (0, 3, 500, 2**64 - 1):
        assert found(b"x" * 60 + locator(named) + FIVE) == 5
    assert found(b"PK\x06\x06" + locator(0) + FIVE) == 5  # too short for a record
    assert found(locator(0)[:4] + FIVE) == 5


def test_a_record_at_the_start_is_read() -> None:
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 7, 0)
    assert found(record + b"between" + locator(0) + FIVE) == 7


def locator(named: int) -> bytes:
    return struct.pack("<4sLQL", b"PK\x06\x07", 0, named, 1)
