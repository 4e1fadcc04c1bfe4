"""An archive of 5 GB is prepared in bounded memory, and lies on the disk once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest

LARGE = "PODIUM_TEST_LARGE"
SLUG = "aptos2019-blindness-detection"
MEMBERS, MEMBER_BYTES = 50, 100 << 20
MOST_MEMORY, MOST_DISK = 300e6, 1.1


@pytest.mark.skipif(LARGE not in os.environ, reason=f"{LARGE} names no directory with 6 GB")
def test_five_gigabytes_are_prepared_in_little_memory_and_once() -> None:
    home = Path(os.environ[LARGE]) / "podium-large"
    shutil.rmtree(home, ignore_errors=True)
    try:
        _prepare(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _prepare(home: Path) -> None:
    competitions = Path(__file__).parents[3] / "competitions"
    shutil.copytree(competitions / SLUG, home / "competitions" / SLUG)
    (home / "raw").mkdir()
    names = [f"image{number}" for number in range(MEMBERS)]
    with zipfile.ZipFile(home / "raw" / f"{SLUG}.zip", "w", zipfile.ZIP_DEFLATED, True, 1) as raw:
        rows = [f"{name},{number % 5}" for number, name in enumerate(names)]
        raw.writestr("train.csv", "\n".join(["id_code,diagnosis", *rows]))
        for name in names:
            with raw.open(f"train_images/{name}.png", "w") as member:
                for _ in range(MEMBER_BYTES >> 20):
                    member.write(bytes(1 << 20))
    size = MEMBERS * MEMBER_BYTES

    began = time.monotonic()
    process = subprocess.Popen(  # a fork would share memory with the fork server
        [sys.executable, "-m", "app.cli", "prepare", SLUG, "--raw", str(home / "raw")],
        env={**os.environ, "PODIUM_DATA_DIR": str(home / "data"),
             "PODIUM_COMPETITIONS_DIR": str(home / "competitions")},
    )  # fmt: skip
    memory = disk = 0
    while process.poll() is None:
        memory = max(memory, _memory(process.pid))
        disk = max(disk, _disk(home))
        time.sleep(0.2)
    seconds = time.monotonic() - began

    print(f"{memory / 1e6:.0f} MB of memory, {disk / size:.3f} times the disk, {seconds:.0f} s")  # noqa: T201
    assert process.returncode == 0
    assert memory < MOST_MEMORY
    assert disk < MOST_DISK * size


def _memory(pid: int) -> int:
    """The bytes of all processes of the command, those that several share counted once."""
    found = [0]
    for one in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        try:
            found.append(one.memory_full_info().pss)
        except psutil.Error:
            continue
    return sum(found)


def _disk(folder: Path) -> int:
    """The blocks of all files below a folder; a file with two names counts once."""
    files = {}
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                entry = Path(directory, name).lstat()
            except FileNotFoundError:
                continue
            files[entry.st_ino] = entry.st_blocks * 512
    return sum(files.values())
