"""`podium reviews` as an operator uses it: here, and on a Podium elsewhere."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import packed
from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer

SLUG = "reviewed"
BOARD = [1.0 + 0.1 * place for place in range(40)]
SECONDS = 60


@pytest.fixture
def reviewed(tmp_path: Path) -> Iterator[tuple[PodiumServer, str]]:
    """A server with a run that sent the answers, and the run's id."""
    server = PodiumServer(tmp_path / "data").start()
    folder = write_competition(tmp_path / SLUG, leaderboard=BOARD)
    with server.client() as admin:
        archive = {"archive": ("a.tar.gz", packed(folder))}
        assert admin.post("/v1/competitions", files=archive).status_code == 201
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        body = {"experiment": "e", "competition": SLUG, "seed": 0}
        run = admin.post("/v1/runs", json=body).json()
        sent = admin.post(
            f"/v1/runs/{run['id']}/submissions",
            content=good_submission(folder),
            headers={"Content-Type": "text/csv", "Prefer": "wait=30"},
        )
        assert sent.json().get("state") == "graded", sent.text
        until = time.monotonic() + SECONDS
        while not admin.get("/v1/reviews").json()["items"] and time.monotonic() < until:
            time.sleep(0.1)
    yield server, run["id"]
    assert server.stop() == 0


def podium(server: PodiumServer, *arguments: str, there: bool) -> subprocess.CompletedProcess[str]:
    remote = {"PODIUM_URL": server.url, "PODIUM_KEY": server.key} if there else {}
    return run_podium(
        ["reviews", *arguments],
        env={**server.environment, **remote},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("there", [False, True], ids=["here", "elsewhere"])
def test_from_the_queue_to_a_decision_and_back(
    reviewed: tuple[PodiumServer, str], *, there: bool
) -> None:
    server, run = reviewed

    def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
        return podium(server, *arguments, there=there)

    listed = ask("list", "--state", "all")
    assert run in listed.stdout, listed.stderr
    assert "perfect_score" in listed.stdout
    (item,) = json.loads(ask("list", "--state", "all", "--level", "review", "--json").stdout)
    assert (item["run"], item["level"], item["decision"]) == (run, "review", None)

    done = ask("exclude", run, "--reason", "the answers leaked")
    assert (done.returncode, done.stdout) == (0, f"excluded {run}\n"), done.stderr
    assert "no runs" in ask("list").stderr
    shown: dict[str, Any] = json.loads(ask("show", run).stdout)
    assert shown["decisions"][-1]["reason"] == "the answers leaked"

    again = ask("exclude", run, "--reason", "the answers leaked")
    assert again.returncode == 1
    assert "holds already" in again.stderr
    assert ask("accept", run, "--reason", " ").returncode != 0
    assert ask("accept", run, "--reason", "they did not").returncode == 0
    digest = hashlib.sha256(str(there).encode()).hexdigest()
    leaked = ask("known-leak", SLUG, digest, "--note", "a dataset")
    assert leaked.stdout == "listed; 0 submissions have these bytes\n", leaked.stderr


def test_a_run_that_is_not_there(reviewed: tuple[PodiumServer, str]) -> None:
    refused = podium(reviewed[0], "show", "run_none", there=False)

    assert refused.returncode == 1
    assert "There is no run 'run_none'." in refused.stderr
