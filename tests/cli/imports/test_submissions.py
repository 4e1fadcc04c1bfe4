"""`podium import submissions` as a researcher types it: graded, killed in the middle, repeated."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.distributed.judge import one_of, slow_competition
from tests.factories import good_submission, write_competition
from tests.forkserver import PodiumProcess, run_podium
from tests.importers.test_submission_folder import line, write_list
from tests.server import PodiumServer

COLUMNS = "id,target\n"


class Home:
    """A data directory with two competitions, and commands on it."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path
        self.folders = [tmp_path / slug for slug in ("one", "two")]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
            "PODIUM_DATA_DIR": str(tmp_path / "data"),
            "PODIUM_COMPETITIONS_DIR": str(tmp_path / "none"),
            "COLUMNS": "200",
        }

    def __call__(self, *words: object, status: int = 0) -> str:
        done = run_podium(
            words, env=self.environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(
            sqlite3.connect(self.path / "data" / "podium.db", timeout=60)
        ) as connection:
            return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two competitions, and a data directory in which they are."""
    home = Home(tmp_path_factory.mktemp("imported"))
    (home.path / "none").mkdir()
    for folder in home.folders:
        write_competition(folder)
    home("import", "folder", *home.folders)
    return home.path


@pytest.fixture
def home(imported: Path, tmp_path: Path) -> Home:
    """A copy of them, of the test's own."""
    shutil.copytree(imported, tmp_path, dirs_exist_ok=True)
    return Home(tmp_path)


def raw_outputs(home: Home, groups: int) -> Path:
    """Run groups with a file at each competition; in the last group one run made none."""
    outputs = home.path / "outputs"
    for number in range(groups):
        group = outputs / f"2025-01-{number + 1:02}_group"
        lines = []
        for folder in home.folders:
            file = group / f"{folder.name}_{number}" / "submission.csv"
            file.parent.mkdir(parents=True)
            file.write_bytes(good_submission(folder, shift=0.02 * number))
            is_last = number == groups - 1 and folder.name == "two"
            path = None if is_last else f"/elsewhere/{file.relative_to(outputs)}"
            lines.append(line(folder.name, path))
        write_list(group, lines)
    return outputs


def test_raw_outputs_are_graded_and_the_same_again_changes_nothing(home: Home) -> None:
    outputs = raw_outputs(home, 3)
    broken = outputs / "2025-01-01_group" / "one_0" / "submission.csv"
    broken.write_text("id,target\nx,1\n")
    found = json.loads(home("import", "submissions", "mine", outputs, "--json"))
    assert found == {
        "experiment": "mine", "imported": 6, "unchanged": 0, "without_file": 1,
        "submissions": {"graded": 4, "rejected": 1}, "problems": [],
    }  # fmt: skip
    again = json.loads(home("import", "submissions", "mine", outputs, "--json"))
    assert (again["imported"], again["unchanged"]) == (0, 6)
    assert again["submissions"] == found["submissions"]
    rates = json.loads(home("report", "mine", "--json"))
    assert rates["groups"]["all"]["any_medal"]["mean"] == pytest.approx(100 * 4 / 6)
    assert rates["groups"]["all"]["made_submission"]["mean"] == pytest.approx(100 * 5 / 6)
    assert (rates["imported"], rates["missing"], rates["exposure"]["unknown"]) == (6, [], 6)
    # Their times are not those of the agent.
    assert "without times" in home("curve", "mine", "--padding", "fail", "--json")
    passed = json.loads(home("pass-at-k", "mine", "-k", "1,3", "--json"))
    assert passed["chosen_by_public"][1]["pass_at_k"] == 100.0


def test_killed_in_the_middle_it_goes_on_and_doubles_nothing(home: Home) -> None:
    outputs = raw_outputs(home, 40)
    kills = 0
    for most in (2, 25, 60):
        process = PodiumProcess(
            ["import", "submissions", "mine", outputs],
            env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until:
            if home.rows("select count(*) from run")[0][0] >= most:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.01)
        kills += process.wait() == -signal.SIGKILL
    assert kills >= 2
    before = home.rows("select count(*) from run")[0][0]
    found = json.loads(home("import", "submissions", "mine", outputs, "--json"))
    assert found["unchanged"] >= before
    assert found["imported"] + found["unchanged"] == 80
    assert found["submissions"] == {"graded": 79}
    assert home.rows("select count(*), count(distinct competition || seed) from run") == [(80, 80)]
    assert home.rows("select count(*), count(distinct run_id) from submission") == [(79, 79)]
    assert home.rows("select count(*) from grade") == [(79,)]
    assert home.rows("select count(*) from run where state <> 'closed'") == [(0,)]


def test_ended_by_a_signal_while_a_file_is_graded_it_counts_no_death(home: Home) -> None:
    """As `timeout` or a scheduler ends it. After two deaths the file would be failed."""
    slow = slow_competition(home.path)
    home("import", "folder", slow)
    group = home.path / "outputs" / "2025-01-01_group"
    file = group / "slow_1" / "submission.csv"
    file.parent.mkdir(parents=True)
    file.write_bytes(one_of(slow, 60, 0.001))
    write_list(group, [line("slow", f"/elsewhere/{file.relative_to(home.path / 'outputs')}")])
    notes = home.path / "data" / "grading"
    process = PodiumProcess(
        ["import", "submissions", "mine", group.parent],
        env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not [*notes.glob("*")]:
        assert time.monotonic() < until, "nothing is graded"
        time.sleep(0.02)

    process.send_signal(signal.SIGTERM)
    process.wait(60)

    assert home.rows("select state from submission") == [("grading",)]
    assert [*notes.glob("*")] == []


def test_what_cannot_be_graded_is_refused_before_anything_is_stored(home: Home) -> None:
    outputs = raw_outputs(home, 1)
    write_list(outputs / "2025-01-02_group", [line("unknown-one", None), line("one", None)])
    told = home("import", "submissions", "mine", outputs, status=1)
    assert "1 of 3 competitions are not imported: unknown-one" in told
    assert home.rows("select count(*) from run") == [(0,)]


def test_another_file_for_the_same_attempt_is_refused_and_lost_files_are_named(home: Home) -> None:
    outputs = raw_outputs(home, 2)
    home("import", "submissions", "mine", outputs)
    (outputs / "2025-01-02_group" / "one_1" / "submission.csv").write_bytes(
        good_submission(home.folders[0], shift=5.0)
    )
    told = home("import", "submissions", "mine", outputs, status=1)
    assert "has another run or result of seed 1 at one" in told
    (outputs / "2025-01-02_group" / "one_1" / "submission.csv").unlink()
    told = home("import", "submissions", "other", outputs, status=1)
    assert "is not in the folder" in told
    assert "3 attempts imported" in told


def test_an_attempt_without_its_file_is_missing_until_the_file_comes(home: Home) -> None:
    outputs = raw_outputs(home, 2)
    lost = outputs / "2025-01-02_group" / "one_1" / "submission.csv"
    content = lost.read_bytes()
    lost.unlink()
    for told in ("3 attempts imported, 0 before", "0 attempts imported, 3 before"):
        assert told in (said := home("import", "submissions", "mine", outputs, status=1))
        assert "2 graded; 1 without a file; problems: 1" in said
        assert home.rows("select state, seed from run where state <> 'closed'") == [("open", 1)]
        assert "one seed 1" in home("report", "mine", status=1)

    lost.write_bytes(content)
    found = json.loads(home("import", "submissions", "mine", outputs, "--json"))

    assert (found["imported"], found["problems"]) == (1, [])
    assert home.rows("select count(*) from run where state <> 'closed'") == [(0,)]
    assert home.rows("select count(*) from submission where state <> 'graded'") == [(0,)]
    assert home("import", "submissions", "mine", outputs).startswith("mine: 0 attempts imported")


def test_beside_a_server_the_server_grades(home: Home) -> None:
    outputs = raw_outputs(home, 2)
    server = PodiumServer(home.path / "data").start()
    try:
        found = json.loads(home("import", "submissions", "mine", outputs, "--json"))
    finally:
        server.stop()
    assert found["submissions"] == {"graded": 3}
