"""The store took a file, and the cache of this machine cannot: the file is stored all the same."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.s3 import S3Server
from tests.storage.blobs.test_s3 import open_store


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EXDEV, errno.EROFS, errno.EIO])
def test_an_upload_is_stored_without_a_copy_in_the_cache(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(reason, os.strerror(reason))

    store = open_store(s3, s3.bucket(), tmp_path / "here")
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", fail)
        with store.new_upload() as upload:
            upload.write(b"id,count\n1,2\n")
            blob = upload.finish()

    assert list((tmp_path / "here" / "uploads").iterdir()) == []
    with store.lease(blob.sha256) as lease:
        assert lease.path.read_bytes() == b"id,count\n1,2\n"


def test_a_lost_directory_of_this_machine_is_no_damage_of_the_store(
    s3: S3Server, tmp_path: Path
) -> None:
    store = open_store(s3, s3.bucket(), tmp_path / "here")
    blob = store.put(b"id,count\n1,2\n")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        store.fetch(blob.sha256, tmp_path / "nowhere" / "blob")
    assert store.fetch(blob.sha256, tmp_path / "blob") == blob.bytes
