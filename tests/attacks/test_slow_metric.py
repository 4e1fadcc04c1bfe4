"""A metric.py that never ends: other competitions are graded and imported meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.worker.loop import CLAIMED_PER_GRADER
from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.server import PodiumServer

GRADERS = 2
HANGS = """
import time

def score(answers, submission):
    while (submission["target"] > 99).any():
        time.sleep(1)
    return 0.0
"""


@pytest.fixture
def podium(tmp_path: Path) -> Iterator[Podium]:
    """A server that gives a grading an hour."""
    server = PodiumServer(tmp_path / "data", graders=GRADERS, grading_seconds=3600).start()
    with contextlib.ExitStack() as clients:
        clients.callback(server.kill)
        yield Podium(server, tmp_path / "folders", clients)


def hanging(podium: Podium, runs: int, files: int) -> tuple[Path, list[str]]:
    """Send so many files with which a metric hangs, by each of so many runs.

    Returns the competition's folder, and the ids of the submissions.
    """
    folder = podium.competition(metric_py=HANGS, leaderboard=None)
    first, *rows = good_submission(folder).decode().splitlines()
    hangs = "\n".join([first, *(row.partition(",")[0] + ",100" for row in rows)]).encode()
    return folder, [
        run.submit(hangs, Prefer="return=minimal").json()["id"]
        for run in [podium.run(folder) for _ in range(runs)]
        for _ in range(files)
    ]


def state(podium: Podium, submission: str) -> str:
    found: str = podium.admin.get(f"/v1/submissions/{submission}").json()["state"]
    return found


@pytest.mark.parametrize(
    ("runs", "files"), [(GRADERS, 1), (GRADERS + 1, CLAIMED_PER_GRADER * GRADERS)]
)
def test_other_competitions_go_on_while_a_metric_hangs(
    podium: Podium, runs: int, files: int
) -> None:
    _, sent = hanging(podium, runs, files)
    folder = podium.competition()  # imported while the metric hangs
    answer = podium.run(folder).submit(good_submission(folder), Prefer="wait=30")

    assert (answer.status_code, answer.json()["state"]) == (201, "graded")
    assert {state(podium, one) for one in (sent[0], sent[-1])} <= {"queued", "grading"}


def test_another_run_goes_on_while_a_file_of_one_hangs(podium: Podium) -> None:
    folder, (hung,) = hanging(podium, 1, 1)
    answer = podium.run(folder).submit(good_submission(folder), Prefer="wait=30")

    assert (answer.status_code, answer.json()["state"]) == (201, "graded")
    assert state(podium, hung) == "grading"
