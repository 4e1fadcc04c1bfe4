"""Uploads of killed processes, and full disks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.errors import StorageFull
from app.storage.blobs.disk import DiskBlobs
from tests.storage.disks import fill, small_disk

ROOT = Path(__file__).parents[3]


def uploads(store):
    return list((store.root / "uploads").iterdir())


def run(store, code, **options):
    """Run Python code in another process, with the variable `store`."""
    prelude = (
        "from pathlib import Path; from app.storage.blobs.disk import DiskBlobs\n"
        f"store = DiskBlobs(Path({str(store.root)!r}))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", prelude + code], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, **options,
    )  # fmt: skip


def test_what_a_killed_process_was_receiving_is_swept(store):
    code = "u = store.new_upload(); u.write(b'one'); print('ready', flush=True); input()"
    with run(store, code, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "ready\n"
        assert store.sweep() == 0  # it is alive, and so is its upload
        assert len(uploads(store)) == 1
        process.send_signal(signal.SIGKILL)
        process.wait(10)

        assert store.sweep() == 1
    assert uploads(store) == []


def test_a_sweep_leaves_our_own_uploads_and_blobs_alone(store):
    kept = store.put(b"kept")
    with store.new_upload() as upload:
        upload.write(b"one")
        assert store.sweep() == 0
        blob = upload.finish()

    assert store.path(blob.sha256).read_bytes() == b"one"
    assert store.path(kept.sha256).exists()


def test_sweeping_while_others_upload_loses_nothing(store):
    stop, blobs = threading.Event(), []

    def sweep():
        while not stop.is_set():
            store.sweep()

    def put(start):
        blobs.extend(store.put(b"%d" % number) for number in range(start, start + 200))

    sweeper = threading.Thread(target=sweep)
    putters = [threading.Thread(target=put, args=(start,)) for start in (0, 1000)]
    for thread in (sweeper, *putters):
        thread.start()
    for thread in putters:
        thread.join(60)
    stop.set()
    sweeper.join(10)

    assert len(blobs) == 400
    assert all(store.path(blob.sha256).stat().st_size == blob.bytes for blob in blobs)


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path):
    # 257 directories of the store, and some room for files.
    with small_disk(tmp_path / "disk", 2048) as disk:
        store = DiskBlobs(disk / "blobs")
        ballast = fill(disk)
        with pytest.raises(StorageFull):
            store.put(os.urandom(100_000))
        assert uploads(store) == []

        ballast.unlink()
        assert store.put(b"one").bytes == 3


def test_a_disk_that_fills_up_in_the_middle_stores_nothing(tmp_path):
    with small_disk(tmp_path / "disk", 2048) as disk:
        store = DiskBlobs(disk / "blobs")
        upload = store.new_upload()
        upload.write(os.urandom(65_536))
        with pytest.raises(StorageFull):
            upload.write(os.urandom(8_000_000))

        assert uploads(store) == []


def test_a_file_larger_than_the_system_allows_is_named_too(store):
    code = """
import resource
from app.errors import StorageFull
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    store.put(b"x" * 60_000)
except StorageFull:
    print("full", list((store.root / "uploads").iterdir()))
"""
    with run(store, code) as process:
        assert process.communicate(timeout=60)[0] == "full []\n"
