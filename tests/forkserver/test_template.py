"""A forked template is to its server what a started one is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.graders.conftest import wait_until
from tests.processes import below
from tests.server import PodiumServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PodiumServer]:
    server = PodiumServer(tmp_path / "data").start()
    yield server
    server.kill()


def template_of(server: PodiumServer) -> psutil.Process:
    (found,) = below(server.process.pid, "podium-template", deep=False)
    return found


def children(server: PodiumServer) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children()


def sockets(process: psutil.Process) -> set[str]:
    """The sockets that a process has open. It must have no other file but the null device."""
    files = {str(one.readlink()) for one in Path(f"/proc/{process.pid}/fd").iterdir()}
    found = {file for file in files if file.startswith("socket:")}
    assert files - found == {os.devnull}
    return found


def test_it_is_in_a_session_of_its_own_with_one_channel(server: PodiumServer) -> None:
    template = template_of(server)

    assert os.getsid(template.pid) == template.pid
    assert template.cwd() == "/"
    assert len(sockets(template)) == 1
    names = {one.name() for one in below(template.pid)}
    assert names == {"podium-grade", "podium-validate"}


def test_the_process_that_forks_it_has_no_file_of_the_server(server: PodiumServer) -> None:
    (forks,) = [one for one in children(server) if one.pid != template_of(server).pid]

    assert len(sockets(forks)) == 1
    assert os.getsid(forks.pid) == forks.pid


def test_all_end_with_the_server(server: PodiumServer) -> None:
    below = psutil.Process(server.process.pid).children(recursive=True)
    server.kill()

    wait_until(lambda: not any(map(is_running, below)))


def test_a_killed_one_is_replaced_by_another_fork(server: PodiumServer) -> None:
    first = template_of(server)
    first.kill()

    def others() -> list[psutil.Process]:
        found = below(server.process.pid, "podium-template", deep=False)
        return [one for one in found if one.pid != first.pid]

    wait_until(lambda: bool(others()), seconds=30)
    with server.client() as client:
        wait_until(lambda: client.get("/readyz").json().get("graders") == "ok", seconds=30)


def test_its_graders_give_the_scores_of_a_started_one(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "competition")
    file = tmp_path / "submission.csv"
    file.write_bytes(good_submission(folder, shift=1 / 3))
    words = ["grade", str(folder), str(file)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
    options: dict[str, Any] = {
        "env": clean, "capture_output": True, "text": True, "check": True,
    }  # fmt: skip
    started = subprocess.run([sys.executable, "-m", "app.cli", *words], **options)
    forked = run_podium(words, **options)

    assert json.loads(forked.stdout) == json.loads(started.stdout)
    assert json.loads(forked.stdout)["score"] == pytest.approx(1 / 3)


def is_running(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
