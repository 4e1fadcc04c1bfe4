from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.errors import DamagedFile, StorageFull, StoreAway
from app.storage.blobs.cache import FileCache
from app.storage.blobs.verify import VerifiedFiles, undamaged
from tests.storage.disks import small_disk

ROOT = Path(__file__).parents[3]
KB = 1024


@pytest.fixture
def cache(tmp_path):
    return FileCache(tmp_path / "cache", 160 * KB)


def writing(size, made=None):
    def make(target):
        if made is not None:
            made.append(target)
        target.write_bytes(b"x" * size)

    return make


def writing_directory(sizes):
    def make(target):
        (target / "below").mkdir(parents=True)
        for number, size in enumerate(sizes):
            (target / "below" / str(number)).write_bytes(b"x" * size)

    return make


def key(number):
    return f"blobs/ab/{number:04d}"


def names(cache):
    return sorted(path.name for path in cache.root.glob("blobs/ab/*"))


def test_a_thing_is_made_once_and_found_again(cache):
    made = []
    for _ in range(3):
        with cache.get(key(1), writing(10, made)) as lease:
            assert lease.path.read_bytes() == b"x" * 10
    assert len(made) == 1


def test_the_longest_unused_goes_when_there_is_too_much(cache):
    for number in range(10):
        cache.get(key(number), writing(16 * KB)).close()
    cache.get(key(0), writing(0)).close()  # used again: now 1 is the oldest
    cache.get(key(10), writing(16 * KB)).close()

    assert "0000" in names(cache)
    assert "0010" in names(cache)
    assert "0001" not in names(cache)
    assert cache.bytes() <= 160 * KB


def test_the_bound_holds_for_many_small_things(cache):
    for number in range(400):
        cache.get(key(number), writing(4 * KB)).close()
        assert cache.bytes() <= 160 * KB
    assert len(names(cache)) > 25


def test_what_is_used_stays_and_goes_when_it_is_no_longer(cache):
    lease = cache.get(key(0), writing(100 * KB))
    for number in range(1, 30):
        cache.get(key(number), writing(16 * KB)).close()
    assert lease.path.stat().st_size == 100 * KB

    lease.close()
    for number in range(30, 60):
        cache.get(key(number), writing(16 * KB)).close()
    assert not lease.path.exists()


def test_a_directory_is_one_thing(cache):
    with cache.get("graded/slug/hash", writing_directory([50 * KB, 50 * KB])) as lease:
        assert {p.name for p in (lease.path / "below").iterdir()} == {"0", "1"}
    for number in range(40):
        cache.get(key(number), writing(8 * KB)).close()
    assert not lease.path.exists()
    assert cache.bytes() <= 160 * KB


def test_what_cannot_be_made_leaves_nothing(cache):
    def fail(target):
        target.write_bytes(b"half")
        raise ConnectionError

    with pytest.raises(ConnectionError):
        cache.get(key(1), fail)
    assert [path for path in cache.root.rglob("*") if path.is_file()] == []
    cache.get(key(1), writing(1)).close()


def test_a_larger_thing_than_the_bound_is_handed_out(cache):
    with cache.get(key(1), writing(500 * KB)) as lease:
        assert lease.path.stat().st_size == 500 * KB
    cache.get(key(2), writing(16 * KB)).close()
    assert names(cache) == ["0002"]


def test_a_moved_file_is_counted_too(cache, tmp_path):
    for number in range(30):
        file = tmp_path / "file"
        file.write_bytes(b"x" * 16 * KB)
        cache.add(key(number), file)
    assert cache.bytes() <= 160 * KB
    assert cache.get(key(29), writing(0)).path.stat().st_size == 16 * KB


def test_leases_leave_no_open_file(cache):
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (PathLib would hold one open itself)
    for number in range(50):
        cache.get(key(number), writing(8 * KB))  # forgotten, not closed
    assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


def test_what_a_killed_process_was_making_is_swept(cache):
    code = (
        "from pathlib import Path; from app.storage.blobs.cache import FileCache; import os\n"
        f"cache = FileCache(Path({str(cache.root)!r}), 1000)\n"
        "def make(target):\n    target.write_bytes(b'half'); os.kill(os.getpid(), 9)\n"
        "cache.get('blobs/ab/cd', make)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, check=False)
    assert [path.read_bytes() for path in cache.root.rglob("*") if path.is_file()] == [b"half"]

    cache.sweep()

    assert [path for path in cache.root.rglob("*") if path.is_file()] == []
    cache.get(key(1), writing(1)).close()


CROWD = """
import random, sys
from pathlib import Path
from app.storage.blobs.cache import FileCache
from app.storage.blobs.verify import VerifiedFiles
cache, chance = FileCache(Path(sys.argv[1]), 256 * 1024), random.Random(int(sys.argv[2]))
def maker(number):
    return lambda target: target.write_bytes(b"%04d" % number * 4096)
for _ in range(400):
    number = chance.randrange(40)
    with cache.get(f"blobs/ab/{number:04d}", maker(number)) as lease:
        assert lease.path.read_bytes() == b"%04d" % number * 4096
"""


def test_processes_that_share_a_cache_never_find_half_of_a_thing_or_lose_one_in_use(cache):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", CROWD, str(cache.root), str(seed)],
            env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True,
        )
        for seed in range(3)
    ]  # fmt: skip
    endings = [(process.communicate(timeout=120)[1], process.returncode) for process in crowd]

    assert endings == [("", 0)] * 3
    assert cache.bytes() <= 256 * KB * (1 + 3 / 16)


def test_threads_make_different_things_side_by_side(cache):
    barrier = threading.Barrier(4, timeout=20)

    def make(target):
        barrier.wait()  # passes only when all four are making at once
        target.write_bytes(b"x")

    threads = [
        threading.Thread(target=lambda n=number: cache.get(key(n), make).close())
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(names(cache)) == 4


def test_threads_that_wait_for_an_entry_fail_together_if_the_store_is_away(tmp_path):
    cache = FileCache(tmp_path, 1 << 20)
    asked = threading.Semaphore(0)
    made, failures, told = [], [], []

    def make(path):
        made.append(path)
        for _ in range(4):  # the others have asked by now
            asked.acquire(timeout=10)
        time.sleep(0.1)
        raise StoreAway("away", for_strangers="out")

    def want():
        asked.release()
        try:
            cache.get("blobs/ab/cd", make)
        except StoreAway as failure:
            failures.append(failure.detail)
            told.append(failure.for_strangers)

    threads = [threading.Thread(target=want) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (len(made), failures) == (1, ["away"] * 4)
    assert told == ["out"] * 4
    with pytest.raises(StoreAway):  # later ones try again
        cache.get("blobs/ab/cd", lambda _: (_ for _ in ()).throw(StoreAway("still")))


def test_a_disk_of_this_machine_that_is_full_or_fails_says_nothing_about_the_store(tmp_path):
    """So that a worker gives back what it cannot grade, and no attempt of the file counts."""
    with small_disk(tmp_path / "disk", 400) as disk:
        cache = FileCache(disk / "cache", 1 << 20)
        cache.get(key(1), writing(KB)).close()
        with pytest.raises(StorageFull, match=r"fetched files .*PODIUM_DATA_DIR.* is full"):
            cache.get(key(2), writing(500 * KB))
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        try:
            cache.get(key(1), writing(KB)).close()  # it is there
            for failing in (lambda: cache.get(key(2), writing(KB)), lambda: cache.remove(key(1))):
                with pytest.raises(StoreAway, match=r"fetched files .*: Read-only file system"):
                    failing()
        finally:
            subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        shutil.rmtree(disk / "cache")
        cache.get(key(2), writing(KB)).close()


def test_a_disk_that_damages_what_is_written_says_nothing_about_the_store(cache):
    def require(path):
        raise DamagedFile(f"{path} is damaged")

    with pytest.raises(StoreAway, match="does not keep what is written"):
        undamaged(cache, key(1), writing(KB), require)
    cache.remove(key(1))  # nothing has a lease
    assert names(cache) == []


def test_a_file_that_is_used_again_is_not_read_again_unless_it_changed(cache):
    body = b"x" * 100 * KB
    sha256, files = hashlib.sha256(body).hexdigest(), VerifiedFiles(of_cache=True)

    def use():
        with cache.get(key(1), writing(len(body))) as lease:
            before = bytes_read()
            files.require(lease.path, sha256)
            return bytes_read() - before, lease.path

    (first, path), (again, _) = use(), use()
    assert first >= len(body) > again
    path.write_bytes(body[:-1] + b"y")
    with pytest.raises(DamagedFile):
        use()


def test_a_damaged_file_is_not_read_again_unless_it_changed(tmp_path):
    body, file = b"x" * 100 * KB, tmp_path / "stored"
    sha256, files = hashlib.sha256(body).hexdigest(), VerifiedFiles()
    file.write_bytes(body[:-1] + b"y")

    def read():
        before = bytes_read()
        with pytest.raises(DamagedFile, match="is damaged"):
            files.require(file, sha256)
        return bytes_read() - before

    first, again = read(), read()
    assert first >= len(body) > again
    repaired = tmp_path / "repaired"
    repaired.write_bytes(body)
    repaired.replace(file)
    files.require(file, sha256)


def bytes_read():
    return int(Path("/proc/self/io").read_text().split()[1])
