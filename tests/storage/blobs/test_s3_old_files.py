"""Old objects of a real S3 server: found, removed, and put back when a row names them after all."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from app.errors import DamagedFile
from app.storage.blobs.unreferenced import unreferenced_blobs, unreferenced_staged
from tests.s3 import wait_for_listings
from tests.storage.blobs.test_s3 import open_store

DAY = 24 * 3600


@pytest.fixture
def bucket(s3):
    return s3.bucket()


@pytest.fixture
def store(s3, bucket, tmp_path):
    return open_store(s3, bucket, tmp_path / "here")


def grow_old(s3, bucket: str, days: float = 2) -> None:
    then = time.time() - days * DAY
    for path in s3.objects(bucket):
        os.utime(path, (then, then))
    wait_for_listings()


def yesterday() -> float:
    return time.time() - DAY


def keys(s3, bucket: str) -> set[str]:
    root = s3.root / bucket / "some" / "where"
    return {str(path.relative_to(root)) for path in s3.objects(bucket)}


def place(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256[2:]}"


def test_old_blobs_that_no_row_names_are_found_in_order(s3, bucket, store):
    blobs = sorted(store.put(b"%d" % number).sha256 for number in range(30))
    with store.new_upload() as upload:
        upload.write(b"staged")
        store.stage(upload, "abc1")
    store.check()  # writes its probe
    grow_old(s3, bucket)
    young = store.put(b"young").sha256
    files, named = store.old_files(), blobs[::3]

    found = list(unreferenced_blobs(files, named, yesterday()))

    assert [one.name for one in found] == [one for one in blobs if one not in named]
    assert young not in {one.name for one in found}
    assert found[0].place == f"s3://{bucket}/some/where/{place(found[0].name)}"
    assert found[0].bytes <= 2
    (staged,) = unreferenced_staged(files, set(), yesterday())
    assert (staged.name, staged.bytes) == ("abc1", 6)
    assert list(unreferenced_staged(files, {"abc1"}, yesterday())) == []


def test_a_removed_blob_lies_aside_for_an_age_and_is_gone_then(s3, bucket, store):
    blob = store.put(b"nobody's")
    grow_old(s3, bucket)
    files = store.old_files()
    (found,) = files.blobs(yesterday())

    assert files.remove(found, yesterday())
    assert not files.remove(found, yesterday())
    files.settle([], yesterday())

    assert keys(s3, bucket) == {f"removed/{place(blob.sha256)}"}
    assert list(files.blobs(yesterday())) == []
    grow_old(s3, bucket)
    files.settle([], yesterday())
    assert keys(s3, bucket) == set()


def test_a_blob_that_was_written_again_is_not_removed(s3, bucket, store):
    store.put(b"needed again")
    grow_old(s3, bucket)
    files = store.old_files()
    (found,) = files.blobs(yesterday())
    store.put(b"needed again")

    assert not files.remove(found, yesterday())
    assert keys(s3, bucket) == {place(found.name)}


def test_a_blob_that_a_row_names_after_all_is_read_and_put_back(s3, bucket, store, tmp_path: Path):
    """As if it was written again between the look at its age and its removal."""
    blob = store.put(b"named a moment later")
    grow_old(s3, bucket)
    files = store.old_files()
    (found,) = files.blobs(yesterday())
    files.remove(found, yesterday())

    store.fetch(blob.sha256, tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == b"named a moment later"

    files.settle(["00" * 32, blob.sha256], yesterday())
    assert keys(s3, bucket) == {place(blob.sha256), f"removed/{place(blob.sha256)}"}
    grow_old(s3, bucket)
    files.settle([blob.sha256], yesterday())
    assert keys(s3, bucket) == {place(blob.sha256)}
    store.fetch(blob.sha256, tmp_path / "again")


def test_another_server_may_settle_at_the_same_time(s3, bucket, store):
    """What lay aside is gone between the list and the look at it: nothing is damaged."""
    blob = store.put(b"nobody's")
    grow_old(s3, bucket)
    files = store.old_files()
    (found,) = files.blobs(yesterday())
    files.remove(found, yesterday())

    def named():
        yield "00" * 32
        (aside,) = s3.objects(bucket)  # asked for the next one after the list was read
        aside.unlink()
        wait_for_listings()
        yield "ff" * 32

    files.settle(named(), yesterday())
    assert keys(s3, bucket) == set()
    assert blob.sha256 == found.name


def test_what_neither_lies_in_its_place_nor_aside_is_missing(store, tmp_path: Path):
    with pytest.raises(DamagedFile):
        store.fetch("ab" * 32, tmp_path / "target")
    assert list(tmp_path.glob("target*")) == []


def test_the_first_text_of_a_name_stays(s3, bucket, store, tmp_path: Path):
    other = open_store(s3, bucket, tmp_path / "there")

    assert store.keep_first("database", "one") == "one"
    assert other.keep_first("database", "two") == "one"
    assert store.keep_first("database", "three") == "one"
