"""Blobs in a real S3 server: stored files are verified, damaged ones are reported."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.errors import BadSettings, DamagedFile, StoreAway
from app.storage.blobs import s3_connection
from app.storage.blobs.cache import FileCache
from app.storage.blobs.open import open_blobs
from app.storage.blobs.s3 import PART_BYTES
from app.storage.blobs.store import Blob
from tests.s3 import KEY, SECRET, wait_for_listings

ROOT = Path(__file__).parents[3]
BIG = 3 * PART_BYTES + 1234


def options(server, **over):
    said = {
        "endpoint": server.endpoint, "region": "us-east-1",
        "access_key_id": KEY, "secret_access_key": SECRET,
    }  # fmt: skip
    return {**said, **over}


def open_store(server, bucket, home, **over):
    cache = FileCache(home / "cache", 1 << 30)
    url = f"s3://{bucket}/some/where"
    return open_blobs(url, options(server, **over), spool=home / "uploads", cache=cache)


@pytest.fixture
def bucket(s3):
    return s3.bucket()


@pytest.fixture
def store(s3, bucket, tmp_path):
    return open_store(s3, bucket, tmp_path / "here")


def big_upload(store, data):
    upload = store.new_upload()
    for start in range(0, len(data), 1 << 20):
        upload.write(data[start : start + (1 << 20)])
    return upload.finish()


def test_bytes_lie_under_their_digest(s3, bucket, store):
    blob = store.put(b"id,count\n1,2\n")

    digest = hashlib.sha256(b"id,count\n1,2\n").hexdigest()
    assert blob == Blob(digest, 13)
    assert [p.relative_to(s3.root / bucket) for p in s3.objects(bucket)] == [
        Path(f"some/where/{digest[:2]}/{digest[2:]}")
    ]


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, PART_BYTES + 1, BIG])
def test_what_was_uploaded_in_pieces_comes_back(s3, bucket, store, tmp_path, size):
    data = os.urandom(size)
    blob = big_upload(store, data)

    assert blob == Blob(hashlib.sha256(data).hexdigest(), size)
    elsewhere = open_store(s3, bucket, tmp_path / "elsewhere")
    with elsewhere.lease(blob.sha256) as lease:
        assert lease.path.read_bytes() == data
        assert lease.path.is_relative_to(tmp_path / "elsewhere" / "cache")
    assert list((tmp_path / "here" / "uploads").iterdir()) == []


def test_an_uploaded_file_is_here_without_being_fetched(own_s3, tmp_path):
    bucket = own_s3.bucket()
    store = open_store(own_s3, bucket, tmp_path)
    blob = big_upload(store, b"x" * 100_000)
    own_s3.stop()

    assert store.lease(blob.sha256).path.read_bytes() == b"x" * 100_000


@pytest.mark.parametrize("size", [1000, BIG])
def test_the_right_bytes_replace_a_damaged_object_when_they_come_again(s3, bucket, store, size):
    data = os.urandom(size)
    blob = big_upload(store, data)
    (stored,) = s3.objects(bucket)
    stored.write_bytes(b"!" + data[1:])
    wait_for_listings()

    assert big_upload(store, data) == blob

    assert stored.read_bytes() == data


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied"])
def test_a_damaged_object_is_our_fault_and_never_handed_out(s3, bucket, store, tmp_path, damage):
    blob = store.put(b"id,count\n1,2\n" * 100)
    (stored,) = s3.objects(bucket)
    data = stored.read_bytes()
    stored.write_bytes(
        {"flipped": data[:50] + b"!" + data[51:], "cut": data[:-1], "emptied": b""}[damage]
    )
    wait_for_listings()

    with pytest.raises(DamagedFile, match=blob.sha256):
        store.lease(blob.sha256)
    with pytest.raises(DamagedFile):
        store.fetch(blob.sha256, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_an_object_that_is_gone_is_named(store):
    with pytest.raises(DamagedFile, match="ab" * 31):
        store.lease("ab" * 32)


def test_a_held_file_becomes_a_blob_once_or_goes(s3, bucket, store, tmp_path):
    upload = store.new_upload()
    upload.write(b"held")
    blob = store.stage(upload, "name1")
    with pytest.raises(DamagedFile):
        store.lease(blob.sha256)

    elsewhere = open_store(s3, bucket, tmp_path / "elsewhere")
    elsewhere.promote("name1", blob)
    store.promote("name1", blob)  # the other server did it: nothing changes

    assert store.lease(blob.sha256).path.read_bytes() == b"held"
    second = store.new_upload()
    second.write(b"never submitted")
    store.stage(second, "name2")
    store.discard("name2")
    store.discard("name2")
    assert [p.parent.name for p in s3.objects(bucket)] == [blob.sha256[:2]]


def test_a_store_that_is_away_keeps_nothing_and_comes_back(own_s3, tmp_path):
    bucket = own_s3.bucket()
    store = open_store(own_s3, bucket, tmp_path)
    kept = store.put(b"kept")
    own_s3.stop(signal.SIGKILL)

    for attempt in (
        lambda: store.put(b"one"),
        lambda: big_upload(store, b"two"),
        lambda: big_upload(store, b"x" * BIG),
        lambda: store.lease(kept.sha256),
        store.check,
    ):
        with pytest.raises(StoreAway, match=bucket):
            attempt()
    assert list((tmp_path / "uploads").iterdir()) == []

    own_s3.start()
    store.check()
    assert store.lease(kept.sha256).path.read_bytes() == b"kept"


def test_a_frozen_store_is_away_within_a_bound(own_s3, tmp_path):
    store = open_store(own_s3, own_s3.bucket(), tmp_path)
    store.check()
    own_s3.send(signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(StoreAway):
        store.put(b"one")
    assert time.monotonic() - started < 60
    own_s3.send(signal.SIGCONT)
    store.put(b"one")


def test_a_download_that_breaks_off_raises_and_leaves_nothing(own_s3, tmp_path):
    store = open_store(own_s3, own_s3.bucket(), tmp_path)
    blob = big_upload(store, os.urandom(BIG))
    other = open_store(own_s3, store.name.split("/")[2], tmp_path / "elsewhere")
    (stored,) = own_s3.objects(store.name.split("/")[2])
    with stored.open("r+b") as file:
        file.truncate(BIG // 2)
    wait_for_listings()
    with pytest.raises(DamagedFile):
        other.lease(blob.sha256)
    assert not list((tmp_path / "elsewhere" / "cache").rglob(blob.sha256[2:]))


def test_a_bucket_that_is_missing_is_said(s3, tmp_path):
    store = open_store(s3, "nowhere", tmp_path)
    with pytest.raises(BadSettings, match="no bucket for s3://nowhere/some/where"):
        store.check()


@pytest.mark.parametrize("wrong", [{"access_key_id": "OTHER"}, {"secret_access_key": "OTHER"}])
def test_wrong_credentials_are_said_and_not_shown(s3, bucket, tmp_path, wrong):
    store = open_store(s3, bucket, tmp_path, **wrong)
    with pytest.raises(BadSettings, match="refuses these credentials") as refusal:
        store.check()
    assert SECRET not in str(refusal.value)
    assert "AWS_SECRET_ACCESS_KEY" in str(refusal.value)


def test_a_bucket_that_may_only_be_read_is_said(own_s3, tmp_path):
    store = open_store(own_s3, own_s3.bucket(), tmp_path)
    own_s3.stop()
    own_s3.start(read_only=True)
    with pytest.raises(BadSettings, match="can be read but not written"):
        store.check()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://host/path", "its scheme is 'ftp'"),
        ("blobs", "its scheme is 'missing'"),
        ("s3:///prefix", "names no bucket"),
        ("s3://key:secret@[bucket", "is not a URL"),
        ("s3://a bucket/prefix", "no bucket can have the name 'a bucket'"),
        ("s3://bucket/a//b", "no object can have the prefix 'a//b'"),
        ("s3://bucket/a%0a", "no object can have the prefix"),
        ("file:blobs", "names no absolute path"),
        ("file://host/blobs", "names no absolute path"),
        ("s3://key:secret@bucket/prefix", "AWS_"),
        ("s3://bucket/prefix?region=x", "AWS_"),
        ("file:///proc/podium", "cannot be stored in /proc/podium"),
    ],
)
def test_a_url_that_names_no_store_is_refused(tmp_path, url, words):
    with pytest.raises(BadSettings, match=words) as refusal:
        open_blobs(url, {}, spool=tmp_path / "u", cache=FileCache(tmp_path / "c", 1))
    assert "secret@" not in str(refusal.value)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"endpoint": "minio:9000"}, "'minio:9000': expected an address such as http://minio:9000"),
        ({"endpoint": "http://a:secret@b:99999"}, "'b:99999': expected an address"),
        ({"endpoint": "http://mi nio"}, "expected an address"),
        ({"endpoint": "http://minio\\9000"}, "expected an address"),
        ({"endpoint": "http://minio:9000\n"}, "AWS_ENDPOINT_URL has a character that cannot be"),
        ({"access_key_id": "key\n"}, "AWS_ACCESS_KEY_ID has a character that cannot be sent"),
        ({"region": "eu-west-1\n"}, "AWS_REGION has a character that cannot be sent"),
    ],
)
def test_an_option_that_cannot_be_sent_is_refused(s3, bucket, tmp_path, option, words):
    """The library panicked: the process ended with a traceback and no word of a setting."""
    with pytest.raises(BadSettings) as refusal:
        open_store(s3, bucket, tmp_path, **option).check()
    assert words in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_an_upload_needs_little_memory_whatever_its_size(s3, bucket, tmp_path):
    code = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.s3 import KEY
from app.storage.blobs.open import open_blobs
from app.storage.blobs.cache import FileCache
home = Path({str(tmp_path)!r})
store = open_blobs("s3://{bucket}", {options(s3)!r}, spool=home / "u",
                   cache=FileCache(home / "c", 1 << 30))
store.put(b"warm")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
upload = store.new_upload()
piece = b"x" * (1 << 20)
for _ in range(200):
    upload.write(piece)
blob = upload.finish()
store.fetch(blob.sha256, home / "again")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 90


def test_threads_that_want_the_same_fetch_it_once(s3, bucket, store, tmp_path):
    blob = big_upload(store, os.urandom(BIG))
    cache = FileCache(tmp_path / "elsewhere" / "cache", 1 << 30)
    elsewhere = open_blobs(
        f"s3://{bucket}/some/where", options(s3), spool=tmp_path / "u", cache=cache
    )
    fetched, fetch = [], elsewhere.fetch

    def counting(sha256, target):
        fetched.append(sha256)
        return fetch(sha256, target)

    elsewhere.fetch = counting
    leases = []
    threads = [
        threading.Thread(target=lambda: leases.append(elsewhere.lease(blob.sha256)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(leases) == 8
    assert fetched == [blob.sha256]


def test_a_long_download_is_not_broken_off(own_s3, tmp_path, monkeypatch):
    """Minutes are tenths of seconds here: a bound of 15 minutes broke off a slow, large file."""
    data = os.urandom(12 << 20)
    bucket = own_s3.bucket()
    blob = open_store(own_s3, bucket, tmp_path / "here").put(data)
    own_s3.stop()
    own_s3.start(bandwidth="4M")
    client, retry = s3_connection.CLIENT, s3_connection.RETRY
    monkeypatch.setitem(client, "timeout", client["timeout"] / 600)
    monkeypatch.setitem(retry, "retry_timeout", retry["retry_timeout"] / 600)
    slow = open_store(own_s3, bucket, tmp_path / "there")

    began = time.monotonic()
    assert slow.fetch(blob.sha256, tmp_path / "copy") == len(data)
    assert time.monotonic() - began > 15 / 10
