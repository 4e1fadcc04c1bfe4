"""`kill -9` at random moments: what was done stays done, and the files are the same in the end."""

from __future__ import annotations

import random
import signal
import subprocess

from app.preparation.manifest import differences, read_manifest
from tests.downloads.conftest import CACTUS, FakeKaggle

KILLS = 20
OTHER = "a-second-competition"


def test_twenty_kills_change_nothing(kaggle: FakeKaggle) -> None:
    archives = [kaggle.competition(slug, megabytes=6) for slug in (CACTUS, OTHER)]
    whole = kaggle.podium("prepare", "--kaggle", CACTUS, OTHER)
    assert whole.returncode == 0, whole.stderr
    roots = kaggle.root(CACTUS), kaggle.root(OTHER)
    kaggle.data.rename(kaggle.work / "first-data")
    size = sum(archive.stat().st_size for archive in archives)
    kaggle.fail(pause=0.02)
    chance, sent, finished = random.Random(17), kaggle.sent(), 0
    longest = 3.0  # seconds before a kill; less where the machine is faster

    for kill in range(KILLS):
        words = ["prepare", "--kaggle", CACTUS, OTHER]
        process = kaggle.start(*words, *(["--again"] if finished else []))
        try:
            process.wait(timeout=chance.uniform(0.05, longest))
            finished += 1  # nothing was left to do
            longest = max(0.1, longest / 2)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert _is_whole_or_absent(kaggle), f"kill {kill}"
    done = kaggle.podium("prepare", "--kaggle", CACTUS, OTHER)

    assert finished < KILLS / 2
    assert done.returncode == 0, done.stderr
    assert (kaggle.root(CACTUS), kaggle.root(OTHER)) == roots
    assert kaggle.podium("prepare", "--verify").returncode == 0
    assert sorted(path.name for path in (kaggle.data / "prepared").iterdir()) == [OTHER, CACTUS]
    assert kaggle.sent() - sent < KILLS * size / 4  # downloads went on where they were


def test_what_a_killed_preparation_left_beside_a_complete_folder_is_removed(
    kaggle: FakeKaggle,
) -> None:
    kaggle.competition(CACTUS, megabytes=1)
    assert kaggle.podium("prepare", "--kaggle", CACTUS).returncode == 0
    root = kaggle.root(CACTUS)
    prepared = kaggle.data / "prepared"
    for ending in ("partial", "old"):
        (prepared / f"{CACTUS}.{ending}" / "public").mkdir(parents=True)

    again = kaggle.podium("prepare", "--kaggle", CACTUS)
    assert again.returncode == 0, again.stderr
    assert [path.name for path in prepared.iterdir()] == [CACTUS]
    assert kaggle.root(CACTUS) == root


def _is_whole_or_absent(kaggle: FakeKaggle) -> bool:
    """Whether each folder under its own name has what its manifest lists."""
    for slug in (CACTUS, OTHER):
        folder = kaggle.data / "prepared" / slug
        if folder.exists():
            manifest = read_manifest(folder)
            if manifest is None or differences(folder, manifest):
                return False
    return True
