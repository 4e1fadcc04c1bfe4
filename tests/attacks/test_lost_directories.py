"""A directory of the store is lost, as when a share is unmounted: agents are told to come again."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from app.errors import StoreAway
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.journal import MAX_BODY_BYTES
from tests.api.conftest import Podium

HEAD, ROW = b"id,target\n", b"1,2\n"


@pytest.mark.parametrize("size", [1, MAX_BODY_BYTES], ids=["small", "large"])
def test_a_file_that_cannot_be_stored_now_is_taken_later(podium: Podium, size: int) -> None:
    run = podium.run(podium.competition())
    body = HEAD + ROW * size
    sha256 = hashlib.sha256(body).hexdigest()
    directory = podium.server.data_dir / "blobs" / sha256[:2]
    away = directory.rename(directory.with_name("away"))

    refused = run.submit(body)
    away.rename(directory)

    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/store-away")
    assert not list((podium.server.data_dir / "blobs" / "uploads").iterdir())
    assert run.submit(body).json()["sha256"] == sha256


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_an_upload_to_a_disk_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    store = DiskBlobs(tmp_path)
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(StoreAway):
        store.put(HEAD)

    assert not list((tmp_path / "uploads").iterdir())
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208
