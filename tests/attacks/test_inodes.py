"""Files of some bytes that use up the inodes of a disk while most of its bytes are free."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from app.errors import DiskReserved
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.small_files import SmallFiles
from tests.storage.disks import small_disk
from tests.storage.small_bodies import put_all


def test_uploads_leave_a_part_of_the_files_that_a_disk_can_have(tmp_path: Path) -> None:
    """Files of some bytes used up its inodes: nothing was written, and no server was ready."""
    with small_disk(tmp_path / "disk", 4096) as disk:
        subprocess.run(["mount", "-o", "remount,nr_inodes=400", disk], check=True)
        store = DiskBlobs(disk / "blobs", 25.0)
        small = SmallFiles(store)
        store.put(b"a")
        put_all(small, [b"b"])
        ballast = [disk / str(number) for number in range(os.statvfs(disk).f_favail - 95)]
        for file in ballast:
            file.touch()

        for attempt in (lambda: store.put(b"c"), lambda: put_all(small, [b"d"]), store.new_upload):
            with pytest.raises(DiskReserved, match=r"can have 95 more files \(inodes\)"):
                attempt()
        for file in ballast:
            file.unlink()
        store.put(b"c")
        assert len(put_all(small, [b"d"])) == 1
        small.close()


def test_a_file_system_that_does_not_know_its_files_takes_uploads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network disks name a number of files, and say that none is left."""
    for files, free in ((0, 0), (1000, 0), (1000, 900)):
        disk = os.statvfs_result((4096, 4096, 1000, 900, 900, files, free, free, 0, 255))
        monkeypatch.setattr(os, "statvfs", lambda _, disk=disk: disk)
        DiskReserve(tmp_path, 5.0).require(1)
