"""A disk that is smaller than the limit of the cache on it: cached files give way to new ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import DiskReserved, StorageFull
from app.storage.blobs.cache import FileCache
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.open import open_blobs
from app.storage.blobs.store import BlobStore
from tests.s3 import S3Server
from tests.storage.blobs.test_cache import KB, key, names, writing, writing_directory
from tests.storage.blobs.test_s3 import options
from tests.storage.disks import fill, small_disk
from tests.system_limits import largest_file

Make = Callable[[Path], None]


def in_parts(size: int) -> Make:
    """A directory with ten files of this size together."""
    return writing_directory([size // 10] * 10)


@pytest.mark.parametrize("make", [writing, in_parts])
def test_the_least_recently_used_give_way_to_a_new_one(
    tmp_path: Path, make: Callable[[int], Make]
) -> None:
    with small_disk(tmp_path / "disk", 1000) as disk:
        cache = FileCache(disk / "cache", 1 << 30)
        for number in range(9):
            cache.get(key(number), writing(100 * KB)).close()
            time.sleep(0.01)  # for times that differ
        with cache.get(key(0), writing(100 * KB)):  # in use, and the latest
            cache.get(key(9), make(300 * KB)).close()

        left = names(cache)
        assert left[0] == "0000"
        assert left[-2:] == ["0008", "0009"]
        assert "0001" not in left


@pytest.mark.parametrize("make", [writing, in_parts])
def test_cached_files_give_way_where_not_a_byte_is_free(
    tmp_path: Path, make: Callable[[int], Make]
) -> None:
    with small_disk(tmp_path / "disk", 1000) as disk:
        cache = FileCache(disk / "cache", 1 << 30)
        for number in range(8):
            cache.get(key(number), writing(100 * KB)).close()
        fill(disk)

        cache.get(key(8), make(300 * KB)).close()

        assert "0008" in names(cache)


def test_none_gives_way_to_a_file_beyond_a_limit_of_the_system(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 1 << 30)
    cache.get(key(0), writing(100 * KB)).close()
    with largest_file(200 * KB), pytest.raises(StorageFull):
        cache.get(key(1), writing(300 * KB))
    assert names(cache) == ["0000"]


def test_none_gives_way_where_all_together_have_too_little(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1000) as disk:
        (disk / "other").write_bytes(b"x" * KB * 400)
        cache = FileCache(disk / "cache", 1 << 30)
        cache.get(key(0), writing(100 * KB)).close()

        with pytest.raises(StorageFull):
            cache.get(key(1), writing(800 * KB))

        assert names(cache) == ["0000"]


def test_none_gives_way_that_is_in_use(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1000) as disk:
        cache = FileCache(disk / "cache", 1 << 30)
        with cache.get(key(0), writing(600 * KB)):
            with pytest.raises(StorageFull):
                cache.get(key(1), writing(500 * KB))
            assert names(cache) == ["0000"]
        cache.get(key(1), writing(500 * KB)).close()
        assert names(cache) == ["0001"]


def store_on(disk: Path, s3: S3Server, bucket: str) -> BlobStore:
    reserve = DiskReserve(disk, 20)
    return open_blobs(
        f"s3://{bucket}/files", options(s3), spool=disk / "uploads",
        cache=FileCache(disk / "cache", 1 << 30, reserve), reserve_percent=20,
    )  # fmt: skip


def send(store: BlobStore, kilobytes: int) -> None:
    with store.new_upload() as upload:
        upload.write(os.urandom(KB * kilobytes))
        upload.finish()


def test_cached_files_do_not_take_what_is_kept_for_the_database(
    tmp_path: Path, s3: S3Server
) -> None:
    with small_disk(tmp_path / "disk", 2000) as disk:
        store = store_on(disk, s3, s3.bucket())
        for _ in range(20):
            send(store, 300)


def test_an_upload_is_refused_where_others_fill_the_disk(tmp_path: Path, s3: S3Server) -> None:
    with small_disk(tmp_path / "disk", 2000) as disk:
        store = store_on(disk, s3, s3.bucket())
        (disk / "other").write_bytes(b"x" * KB * 1500)
        send(store, 30)
        (disk / "another").write_bytes(b"x" * KB * 200)

        with pytest.raises(DiskReserved):
            store.new_upload()
