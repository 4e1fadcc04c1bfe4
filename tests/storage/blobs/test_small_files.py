from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.errors import StorageFull
from app.storage.blobs import small_files
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.journal import recover_abandoned
from app.storage.blobs.small_files import SmallFiles
from app.storage.blobs.store import Blob
from tests.storage.disks import fill, small_disk
from tests.storage.small_bodies import blob_of, put_all
from tests.system_limits import no_more_threads

ROOT = Path(__file__).parents[3]
BODIES = [b"id,count\n%d,2\n" % number for number in range(20)]


@pytest.fixture
def small(store):
    small = SmallFiles(store)
    yield small
    small.close()


def journals(store):
    return list((store.root / "journals").iterdir())


def test_small_files_lie_where_the_store_looks_for_them(store, small):
    blobs = put_all(small, BODIES)

    assert blobs == [blob_of(body) for body in BODIES]
    for blob, body in zip(blobs, BODIES, strict=True):
        assert store.path(blob.sha256).read_bytes() == body
        assert store.path(blob.sha256).stat().st_mode & 0o777 == 0o440
    assert put_all(small, []) == []


def test_the_same_bytes_are_kept_once(store, small):
    (first,) = put_all(small, [b"one"])
    before = store.path(first.sha256).stat().st_ino

    assert put_all(small, [b"one", b"one"]) == [first, first]
    assert store.put(b"one") == first
    assert store.path(first.sha256).stat().st_ino == before


def test_a_file_of_the_wrong_size_is_replaced(store, small):
    path = store.path(blob_of(b"one two").sha256)
    path.write_bytes(b"one")

    put_all(small, [b"one two"])

    assert path.read_bytes() == b"one two"
    assert list((store.root / "uploads").iterdir()) == []


def test_one_sync_keeps_all_and_comes_before_any_result(store, small, monkeypatch):
    put_all(small, [b"the journal is there"])
    places, synced = [store.path(blob_of(body).sha256) for body in BODIES], []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append("fsync"))
    sync = os.fdatasync

    def record(descriptor):
        journal = Path(f"/proc/self/fd/{descriptor}").readlink()
        content = journal.read_bytes()
        assert all(body in content for body in BODIES)
        synced.append([place.exists() for place in places])
        sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", record)
    put_all(small, BODIES)

    assert synced == [[False] * len(BODIES)]


@pytest.mark.parametrize("loss", ["gone", "empty", "zeros"])
def test_what_a_crash_of_the_machine_took_is_written_again(store, small, loss):
    blobs = put_all(small, BODIES)
    small.close()
    for blob in blobs[::2]:
        path = store.path(blob.sha256)
        path.unlink()
        if loss != "gone":
            path.write_bytes(b"" if loss == "empty" else bytes(blob.bytes))

    assert recover_abandoned(store) == len(blobs) / 2

    for blob, body in zip(blobs, BODIES, strict=True):
        assert store.path(blob.sha256).read_bytes() == body
    assert journals(store) == []


def test_a_full_journal_without_a_thread_to_recover_it_loses_nothing(store, small, monkeypatch):
    monkeypatch.setattr(small_files, "JOURNAL_BYTES", 1)

    with no_more_threads():
        blobs = put_all(small, BODIES)

    store.path(blobs[0].sha256).unlink()
    assert recover_abandoned(store) == 1
    assert journals(store) == []


def test_a_writer_that_is_closed_leaves_its_full_journals_to_the_next_start(
    store, small, monkeypatch
):
    monkeypatch.setattr(small_files, "JOURNAL_BYTES", 1)
    blobs = put_all(small, BODIES)
    store.path(blobs[0].sha256).unlink()

    small.close()

    deadline = time.monotonic() + 20
    while not recover_abandoned(store) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert store.path(blobs[0].sha256).exists()
    assert journals(store) == []


def test_files_are_synced_before_their_journal_is_removed(store, small, monkeypatch):
    blobs = put_all(small, BODIES)
    small.close()
    synced, sync = set(), os.fsync

    def record(descriptor):
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        assert journals(store) != []
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    recover_abandoned(store)

    places = {store.path(blob.sha256) for blob in blobs}
    assert synced == places | {place.parent for place in places}
    assert journals(store) == []


@pytest.mark.parametrize("cut", [1, 3, 47, 48, 50, 60])
def test_half_a_record_ends_a_journal_and_spoils_nothing_before_it(store, small, cut):
    # One append, whose last record (48 bytes of head, 13 of body) did not reach the disk whole.
    blobs = put_all(small, BODIES[:10])
    small.close()
    (journal,) = journals(store)
    os.truncate(journal, journal.stat().st_size - cut)
    for blob in blobs:
        store.path(blob.sha256).unlink()

    assert recover_abandoned(store) == 9

    assert [store.path(blob.sha256).exists() for blob in blobs] == [True] * 9 + [False]


def test_bytes_that_are_not_those_of_their_digest_end_a_journal_too(store, small):
    blobs = put_all(small, BODIES[:3])
    small.close()
    (journal,) = journals(store)
    content = bytearray(journal.read_bytes())
    content[61 + 50] ^= 1  # in the second of three bodies
    journal.write_bytes(content)
    for blob in blobs:
        store.path(blob.sha256).unlink()

    assert recover_abandoned(store) == 1


def test_a_living_process_keeps_its_journal_and_a_dead_ones_is_settled(store):
    code = (
        "from pathlib import Path; from app.storage.blobs.disk import DiskBlobs\n"
        "from app.storage.blobs.small_files import SmallFiles\n"
        "from tests.storage.small_bodies import put_all\n"
        f"put_all(SmallFiles(DiskBlobs(Path({str(store.root)!r}))), [b'one'])\n"
        "print('stored', flush=True)\n"
        "input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "stored\n"
        store.path(blob_of(b"one").sha256).unlink()
        assert recover_abandoned(store) == 0
        assert len(journals(store)) == 1
        process.send_signal(signal.SIGKILL)
        process.wait(10)

        assert recover_abandoned(store) == 1
    assert store.path(blob_of(b"one").sha256).read_bytes() == b"one"
    assert journals(store) == []


def test_whoever_opens_the_store_finds_what_a_server_holds_and_what_a_dead_one_left(
    store, small, tmp_path
):
    """A backup in another process reads new files, and files that a crash had lost."""
    (blob,) = put_all(small, [b"one"])
    code = (
        "from pathlib import Path; from app.storage.blobs.open import open_blobs\n"
        "from app.storage.blobs.cache import FileCache\n"
        f"cache = FileCache(Path({str(tmp_path / 'cache')!r}), 1)\n"
        f"store = open_blobs({store.name!r}, {{}}, spool=Path('unused'), cache=cache)\n"
        f"print(store.lease({blob.sha256!r}).path.read_text())"
    )

    def read_elsewhere():
        return subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)

    assert read_elsewhere() == "one\n"
    assert len(journals(store)) == 1
    small.close()
    store.path(blob.sha256).unlink()
    assert read_elsewhere() == "one\n"
    assert journals(store) == []


def test_full_journals_are_settled_in_time_while_the_next_is_written(store, small, monkeypatch):
    monkeypatch.setattr(small_files, "JOURNAL_BYTES", 50_000)
    monkeypatch.setattr(small_files, "RECOVERY_DELAY_SECONDS", 0.05)
    blobs = [blob for n in range(30) for blob in put_all(small, [b"%05d" % n * 2000])]
    deadline = time.monotonic() + 20
    while len(journals(store)) > 1 and time.monotonic() < deadline:
        time.sleep(0.02)

    assert len(journals(store)) <= 1
    assert all(store.path(blob.sha256).stat().st_size == 10_000 for blob in blobs)


def test_settling_while_others_write_loses_nothing(store):
    stop, stored = threading.Event(), []

    def settle():
        while not stop.is_set():
            recover_abandoned(store)

    def put(start):
        for first in range(start, start + 300, 3):
            small = SmallFiles(store)  # a journal of its own for every three
            stored.extend(put_all(small, [b"%d" % (first + n) for n in range(3)]))
            small.close()

    settler = threading.Thread(target=settle)
    putters = [threading.Thread(target=put, args=(start,)) for start in (0, 1000)]
    for thread in (settler, *putters):
        thread.start()
    for thread in putters:
        thread.join(60)
    stop.set()
    settler.join(20)
    assert len(stored) == 600
    assert all(store.path(blob.sha256).stat().st_size == blob.bytes for blob in stored)
    recover_abandoned(store)
    assert journals(store) == []


def test_a_full_disk_is_named_and_forgotten_once_there_is_room(tmp_path, monkeypatch):
    monkeypatch.setattr(small_files, "RECOVERY_DELAY_SECONDS", 1)
    with small_disk(tmp_path / "disk", 3072) as disk:
        store = DiskBlobs(disk / "blobs")
        small = SmallFiles(store)
        (kept,) = put_all(small, [b"kept"])
        store.path(kept.sha256).unlink()
        ballast = fill(disk)
        with pytest.raises(StorageFull):
            put_all(small, [os.urandom(100_000), os.urandom(100_000)])
        ballast.unlink()

        assert put_all(small, [b"one"]) == [blob_of(b"one")]
        # The journal that ended in half a record is settled as far as it goes.
        deadline = time.monotonic() + 20
        while len(journals(store)) > 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert store.path(kept.sha256).read_bytes() == b"kept"
        small.close()


def test_room_for_the_journal_alone_is_not_enough(tmp_path):
    with small_disk(tmp_path / "disk", 1600) as disk:
        store = DiskBlobs(disk / "blobs")
        small = SmallFiles(store)
        body = os.urandom(300_000)
        outcomes = put_all(small, [body, body[:-1], body[:-2]])

        assert isinstance(outcomes[-1], StorageFull)
        for outcome, length in zip(outcomes, (300_000, 299_999, 299_998), strict=True):
            path = store.path(blob_of(body[:length]).sha256)
            assert path.exists() == isinstance(outcome, Blob)
        small.close()
