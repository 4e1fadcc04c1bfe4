"""Preparing, grading anew, estimating noise and downloading show how far they are in a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import packed
from tests.cli.folders.test_prepare import write_raw
from tests.cli.test_progress import BEGIN, run, run_in_terminal
from tests.distributed.cluster import is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.kaggle_api.test_import import PREPARE, TOML
from tests.server import PodiumServer

BIKE = Path(__file__).parents[2] / "competitions" / "bike-sharing-demand"
SLUG = "tiny"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A stopped Podium with graded submissions and a second version of their competition."""
    home = tmp_path_factory.mktemp("work")
    (home / "competitions").mkdir()
    server = PodiumServer(home / "data").start()
    (home / "key").write_text(server.key)
    folder = write_competition(home / SLUG)
    labels = "".join(f"x{row},{row / 40}\n" for row in range(40))
    (folder / "public" / "labels.csv").write_text("id,target\n" + labels)
    with server.client() as admin:
        send(admin, folder)
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        for seed in range(2):
            body = {"experiment": "e", "competition": SLUG, "seed": seed, "feedback": "full"}
            made = admin.post("/v1/runs", json=body).json()
            one = admin.post(
                f"/v1/runs/{made['id']}/submissions",
                content=good_submission(folder, shift=0.12),
                headers={"Content-Type": "text/csv", "Authorization": f"Bearer {made['key']}"},
            ).json()
            wait_until(admin, one["id"], is_settled)
        write_competition(folder, leaderboard=tuple(0.001 * place for place in range(1, 13)))
        send(admin, folder)
    server.stop()
    return home


def send(admin: Any, folder: Path) -> None:
    archive = {"archive": ("a.tar.gz", packed(folder))}
    assert admin.post("/v1/competitions", files=archive).status_code == 201


def assert_for_terminals_alone(
    home: Path, words: tuple[Any, ...], text: str, *, again: Any
) -> None:
    status, shown = run_in_terminal(home, words)
    plain = run(home, again)

    assert BEGIN in shown, shown
    assert text in shown
    assert "\x1b" not in plain.stderr + plain.stdout
    assert (status, plain.returncode) == (0, 0), shown + plain.stderr


def test_a_regrade_shows_its_progress(home: Path) -> None:
    words = ("regrade", SLUG, "--to", "2", "--dry-run")
    assert_for_terminals_alone(home, words, SLUG, again=words)


def test_estimates_of_noise_show_their_progress(home: Path) -> None:
    words = ("uncertainty", "e")
    assert_for_terminals_alone(home, words, "e", again=words)


def test_preparing_shows_that_it_goes_on(home: Path) -> None:
    without = shutil.ignore_patterns("public", "private")
    folder = shutil.copytree(BIKE, home / "competitions" / BIKE.name, ignore=without)
    words = ("prepare", folder.name, "--raw", write_raw(home))

    status, shown = run_in_terminal(home, words)
    plain = run(home, words)

    assert BEGIN in shown, shown
    assert folder.name in shown
    assert "\x1b" not in plain.stderr + plain.stdout
    assert (status, plain.returncode) == (0, 0), shown + plain.stderr


def test_a_download_shows_its_progress(home: Path, tmp_path: Path) -> None:
    source = PodiumServer(home / "data").start()
    try:
        for name in ("one", "two"):
            there = tmp_path / name / "competitions" / SLUG
            there.mkdir(parents=True)
            (there / "competition.toml").write_text(TOML.replace("{slug}", SLUG))
            (there / "prepare.py").write_text(PREPARE)
        words = ("import", "kaggle", SLUG, "--from", source.url, "--key-file", home / "key")
        status, shown = run_in_terminal(tmp_path / "one", words)
        plain = run(tmp_path / "two", words)
    finally:
        source.stop()

    assert BEGIN in shown, shown
    assert SLUG in shown
    assert "\x1b" not in plain.stderr + plain.stdout
    assert (status, plain.returncode) == (0, 0), shown + plain.stderr
