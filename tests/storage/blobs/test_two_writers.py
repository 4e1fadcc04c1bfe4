"""Two processes store the same bytes at once, and the disk is full for one of them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from app.errors import StorageFull
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from tests.storage.small_bodies import blob_of

BODY = b"id,target\n1,2\n"


def test_the_file_that_one_has_stored_stays_when_the_other_finds_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = DiskBlobs(tmp_path), DiskBlobs(tmp_path)
    small, place, write = SmallFiles(first), first.path(blob_of(BODY).sha256), os.write
    stored = []

    def write_until_the_other_is_first(descriptor: int, data: bytes) -> int:
        if not stored and place.exists():
            stored.append(blob_of(BODY))
            assert second.put(BODY) == stored[0]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", write_until_the_other_is_first)
    (outcome,) = small.put_all([(blob_of(BODY), BODY)])
    small.close()

    assert isinstance(outcome, StorageFull)
    assert stored
    assert place.read_bytes() == BODY


def test_half_a_file_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DiskBlobs(tmp_path)
    small = SmallFiles(store)

    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", fail)
    (outcome,) = small.put_all([(blob_of(BODY), BODY)])
    small.close()

    assert isinstance(outcome, StorageFull)
    assert not store.path(blob_of(BODY).sha256).exists()
