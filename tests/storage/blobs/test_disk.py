from __future__ import annotations

import hashlib
import os
import shutil
import threading
from pathlib import Path

import pytest

from app.errors import StoreAway
from app.storage.blobs.disk import STORE_FILE, DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from app.storage.blobs.store import Blob
from tests.storage.small_bodies import blob_of

ROOT = Path(__file__).parents[3]
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def uploads(store):
    return list((store.root / "uploads").iterdir())


def test_bytes_lie_under_their_digest(store):
    blob = store.put(b"id,count\n1,2\n")

    assert blob == Blob(hashlib.sha256(b"id,count\n1,2\n").hexdigest(), 13)
    assert store.path(blob.sha256).read_bytes() == b"id,count\n1,2\n"
    assert store.path(blob.sha256) == store.root / blob.sha256[:2] / blob.sha256[2:]


def test_nothing_at_all_is_a_blob_too(store):
    assert store.put(b"") == Blob(EMPTY, 0)
    assert store.path(EMPTY).read_bytes() == b""


def test_pieces_make_one_blob(store):
    with store.new_upload() as upload:
        for piece in (b"id", bytearray(b",count"), memoryview(b"\n1,2\n")):
            upload.write(piece)
        blob = upload.finish()

    assert blob == store.put(b"id,count\n1,2\n")


def test_a_finished_upload_leaves_nothing_but_its_blob(store):
    store.put(b"one")
    store.put(b"one")

    assert uploads(store) == []


def test_a_blob_cannot_be_written_to(store):
    path = store.path(store.put(b"one").sha256)

    assert path.stat().st_mode & 0o777 == 0o440


def test_the_same_bytes_are_kept_once(store):
    path = store.path(store.put(b"one").sha256)
    before = path.stat().st_ino

    store.put(b"one")

    assert path.stat().st_ino == before


def test_a_blob_of_the_wrong_size_is_replaced(store):
    path = store.path(store.put(b"one two").sha256)
    path.chmod(0o640)
    path.write_bytes(b"one")

    store.put(b"one two")

    assert path.read_bytes() == b"one two"


def test_nothing_is_in_the_store_before_it_is_finished(store):
    upload = store.new_upload()
    upload.write(b"one")

    assert not store.path(hashlib.sha256(b"one").hexdigest()).exists()
    upload.discard()


def test_a_discarded_upload_leaves_nothing(store):
    upload = store.new_upload()
    upload.write(b"one")
    upload.discard()
    upload.discard()

    assert uploads(store) == []
    with pytest.raises(ValueError, match="discarded"):
        upload.write(b"two")
    with pytest.raises(ValueError, match="discarded"):
        upload.finish()


def test_an_upload_that_breaks_off_discards_itself(store):
    def receive():
        with store.new_upload() as upload:
            upload.write(b"one")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        receive()

    assert uploads(store) == []


def test_the_bytes_so_far_can_be_read(store):
    with store.new_upload() as upload:
        upload.write(b"one")
        path = upload.close()

        assert path.read_bytes() == b"one"
    assert not path.exists()


def test_an_upload_leaves_no_open_file(store):
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (PathLib would hold one open itself)
    for number in range(20):
        store.put(b"%d" % number)
        store.new_upload().discard()

    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@pytest.mark.parametrize(
    "digest", ["", "ab", EMPTY.upper(), EMPTY + "\n", "../" + EMPTY[3:], EMPTY[:-1] + "g", "é" * 64]
)
def test_only_a_digest_names_a_blob(store, digest):
    with pytest.raises(ValueError, match="64 hex digits"):
        store.path(digest)


def test_a_blob_is_synced_before_it_gets_its_name_and_its_name_before_the_result(
    store, monkeypatch
):
    place = store.path(hashlib.sha256(b"one").hexdigest())
    synced, sync = [], os.fsync

    def record(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append((path.relative_to(store.root).parts[0], place.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    store.put(b"one")
    assert synced == [("uploads", False), (place.parent.name, True)]

    synced.clear()
    store.put(b"one")
    assert synced == [(place.parent.name, True)]


def test_identical_uploads_at_once_make_one_complete_blob(store):
    data = os.urandom(300_000)
    blobs, barrier = [], threading.Barrier(8)

    def put():
        barrier.wait(10)
        blobs.append(store.put(data))

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert set(blobs) == {Blob(hashlib.sha256(data).hexdigest(), 300_000)}
    assert len(blobs) == 8
    assert store.path(blobs[0].sha256).read_bytes() == data
    assert uploads(store) == []


def test_nothing_is_stored_below_the_mount_point_of_a_disk_that_was_unmounted(tmp_path):
    root, elsewhere = tmp_path / "blobs", tmp_path / "elsewhere"
    DiskBlobs(root).keep_first(STORE_FILE, "a" * 32)
    store, source = DiskBlobs(root), tmp_path / "file"
    small = SmallFiles(store)
    source.write_bytes(b"file")
    root.rename(elsewhere)
    DiskBlobs(root).keep_first(STORE_FILE, "b" * 32)  # what another start leaves there
    SmallFiles(DiskBlobs(root)).close()

    for attempt in (
        lambda: small.put_all([(blob_of(b"small"), b"small")]),
        lambda: store.put(b"large"),
        lambda: store.put_file(source, blob_of(b"file")),
        lambda: store.stage(store.new_upload(), "held"),
        lambda: store.promote("held", blob_of(b"held")),
        store.check,
    ):
        with pytest.raises(StoreAway, match="is its disk mounted"):
            attempt()
    assert [path.name for path in root.rglob("*") if path.is_file()] == [STORE_FILE]

    shutil.rmtree(root)
    elsewhere.rename(root)
    assert small.put_all([(blob_of(b"small"), b"small")]) == [None]
    small.close()
