"""Bodies that are unpacked: how large they may become, and of how many parts they may be joined."""

from __future__ import annotations

import gzip
import io

import pytest

from app.api.http.unpacking import MOST_PARTS, READ_BYTES, decompress
from app.errors import BadRequest, TooLarge

MEMBER = gzip.compress(b"a", mtime=0)


def unpacked(packed: bytes, most: int = 1_000_000) -> bytes:
    sink = io.BytesIO()
    decompress(io.BytesIO(packed), "gzip", sink, most)
    return sink.getvalue()


def test_a_body_may_have_as_many_bytes_as_are_accepted_and_no_more() -> None:
    assert unpacked(gzip.compress(b"a" * 2_000_000), 2_000_000) == b"a" * 2_000_000
    with pytest.raises(TooLarge, match="larger than the 2 MB this service accepts"):
        unpacked(gzip.compress(b"a" * (2 * 1024**2 + 1)), 2 * 1024**2)


def test_a_body_may_be_joined_of_as_many_parts_as_are_named_and_no_more() -> None:
    assert unpacked(MEMBER * MOST_PARTS) == b"a" * MOST_PARTS
    with pytest.raises(BadRequest, match=f"more than {MOST_PARTS:,} parts"):
        unpacked(MEMBER * (MOST_PARTS + 1))


@pytest.mark.parametrize("zeros", [0, 1, 512, READ_BYTES, 3 * READ_BYTES])
def test_zeros_after_a_part_are_padding(zeros: int) -> None:
    assert unpacked(MEMBER + b"\0" * zeros) == b"a"
    assert unpacked(MEMBER + b"\0" * zeros + MEMBER) == b"aa"


@pytest.mark.parametrize("packed", [MEMBER[:-1], MEMBER + MEMBER[:5], MEMBER + b"x", b"x"])
def test_a_body_that_is_not_whole_is_refused(packed: bytes) -> None:
    with pytest.raises(BadRequest, match="not complete gzip data"):
        unpacked(packed)
