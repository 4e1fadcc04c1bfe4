"""A Harbor task: its folder, and its verifier run as a plain process against a real server."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from app.cli.harbor import task_folder
from app.cli.harbor.task_folder import HarborTask
from app.errors import Invalid
from tests.api.conftest import Podium
from tests.api.test_faults import FAILS_AT_4321, failing_file
from tests.api.test_grade import BAD_FILES
from tests.api.test_success import measured_competition
from tests.forkserver import run_podium

KEYS = {
    "reward", "any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median",
    "valid_submission", "submission_exists",
}  # fmt: skip


def write_task(podium: Podium, slug: str, folder: Path, *, elsewhere: bool) -> Path:
    """The folder that the command writes, on the server's machine or elsewhere."""
    where = {"PODIUM_URL": podium.server.url, "PODIUM_KEY": podium.server.key} if elsewhere else {}
    done = run_podium(
        ["harbor-task", slug, str(folder), "--verifier-url",
         podium.server.url],
        env={**podium.server.environment, **where}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


class Verifier:
    """`tests/test.sh` of a task, run as a process with the variables of its `[verifier.env]`."""

    def __init__(self, task: Path, home: Path, key: str) -> None:
        self.task, self.home = task, home
        self.submission = home / "submission.csv"
        self.logs = home / "logs"
        self.logs.mkdir(parents=True)
        config = tomllib.loads((task / "task.toml").read_text())
        self.variables = {"PODIUM_KEY": key, "NO_PROXY": "*", "PODIUM_WAIT_SECONDS": "10"}
        for name, value in config["verifier"]["env"].items():
            if ":-" in value:
                self.variables.setdefault(name, value.split(":-")[1].rstrip("}"))

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        named = {
            "PATH": os.environ["PATH"], **self.variables, **variables,
            "PODIUM_SUBMISSION": str(self.submission), "PODIUM_VERIFIER_LOGS": str(self.logs),
        }  # fmt: skip
        return subprocess.run(
            [str(self.task / "tests" / "test.sh")],
            env=named, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    def reward(self) -> dict[str, float] | None:
        """The reward as Harbor reads it: numbers that are finite, or no file."""
        path = self.logs / "reward.json"
        if not path.exists():
            return None
        found: dict[str, float] = json.loads(path.read_text())
        assert all(type(one) in (int, float) and math.isfinite(one) for one in found.values())
        return found


@pytest.fixture
def verifier(podium: Podium, experiment: str, tiny: Path, tmp_path: Path) -> Verifier:
    task = write_task(podium, tiny.name, tmp_path / "task", elsewhere=True)
    return Verifier(task, tmp_path / "home", podium.harness_key(experiment))


@pytest.mark.parametrize("elsewhere", [True, False])
def test_the_folder_has_harbors_schema_and_no_answers(podium, tiny, tmp_path, elsewhere):  # type: ignore[no-untyped-def]
    folder = write_task(podium, tiny.name, tmp_path / "task", elsewhere=elsewhere)

    config = tomllib.loads((folder / "task.toml").read_text())
    shown = podium.admin.get(f"/v1/competitions/{tiny.name}").json()
    assert config["schema_version"] == "1.4"
    assert config["artifacts"] == ["/home/submission/submission.csv"]
    assert config["metadata"]["podium_version"] == f"sha256:{shown['content_hash']}"
    verifier = config["verifier"]
    assert verifier["environment_mode"] == "separate"
    assert (verifier["network_mode"], verifier["allowed_hosts"]) == ("allowlist", ["127.0.0.1"])
    assert verifier["env"]["PODIUM_KEY"] == "${PODIUM_KEY}"
    files = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    assert files == {
        "task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh", "tests/grade.py",
        "environment/data/train.csv", "environment/data/sample_submission.csv",
    }  # fmt: skip
    answers = (tiny / "private" / "answers.csv").read_bytes().splitlines()[1]
    assert not [one for one in folder.rglob("*") if one.is_file() and answers in one.read_bytes()]
    assert "Predict `target`" in (folder / "instruction.md").read_text()
    train = (folder / "environment/data/train.csv").read_bytes()
    assert train == (tiny / "public/train.csv").read_bytes()


def test_a_folder_that_exists_is_not_touched(podium, tiny, tmp_path):  # type: ignore[no-untyped-def]
    (tmp_path / "mine").mkdir()
    done = run_podium(
        ["harbor-task", tiny.name, str(tmp_path / "mine"),
         "--verifier-url", "https://podium.example"],
        env=podium.server.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "exists" in done.stderr
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_competition_that_takes_no_files_is_refused(podium, tmp_path, elsewhere):  # type: ignore[no-untyped-def]
    slug = measured_competition(podium).name
    where = {"PODIUM_URL": podium.server.url, "PODIUM_KEY": podium.server.key} if elsewhere else {}

    done = run_podium(
        ["harbor-task", slug, str(tmp_path / "task"), "--verifier-url", "https://podium.example"],
        env={**podium.server.environment, **where}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert f"{slug} takes no submissions" in " ".join(done.stderr.split())
    assert not (tmp_path / "task").exists()


def test_a_folder_beside_it_is_not_touched(podium, tiny, tmp_path):  # type: ignore[no-untyped-def]
    (tmp_path / "task.partial").mkdir()
    (tmp_path / "task.partial" / "notes.txt").write_text("mine")
    run_podium(
        ["harbor-task", tiny.name, str(tmp_path / "task"),
         "--verifier-url", "https://podium.example"],
        env=podium.server.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert sorted(one.name for one in tmp_path.iterdir()) == ["task", "task.partial"]
    assert (tmp_path / "task.partial" / "notes.txt").read_text() == "mine"


def test_a_good_file_earns_its_reward_once(podium, experiment, verifier, good):  # type: ignore[no-untyped-def]
    verifier.submission.write_bytes(good)

    done = [verifier.run(PODIUM_TRIAL="trial-1") for _ in range(2)]

    assert [one.returncode for one in done] == [0, 0], done[0].stderr
    reward = verifier.reward()
    assert reward is not None
    assert set(reward) == {*KEYS, "percentile"}
    report = json.loads((verifier.logs / "report.json").read_text())
    assert report["score"] == pytest.approx(0.12)
    assert reward["reward"] == reward["any_medal"] == int(report["any_medal"])
    (run,) = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    assert run["submissions"] == {"graded": 1}
    assert verifier.run(PODIUM_TRIAL="trial-2").returncode == 0
    (run,) = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    assert run["submissions"] == {"graded": 2}


@pytest.mark.parametrize("code", BAD_FILES)
def test_a_bad_file_earns_nothing(verifier, code):  # type: ignore[no-untyped-def]
    verifier.submission.write_bytes(BAD_FILES[code])

    assert verifier.run().returncode == 0
    assert verifier.reward() == dict.fromkeys(KEYS, 0) | {"submission_exists": 1}


def test_no_file_earns_nothing(podium, experiment, verifier):  # type: ignore[no-untyped-def]
    assert verifier.run().returncode == 0
    assert verifier.reward() == dict.fromkeys(KEYS, 0)
    assert podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"] == []


@pytest.mark.parametrize(
    "variables",
    [
        {"PODIUM_KEY": "pod_harness_wrong"},
        {"PODIUM_KEY": ""},
        {"PODIUM_URL": "http://127.0.0.1:9", "PODIUM_WAIT_SECONDS": "1"},
    ],
)
def test_a_fault_that_is_not_the_files_is_no_reward(verifier, good, variables):  # type: ignore[no-untyped-def]
    verifier.submission.write_bytes(good)
    (verifier.logs / "reward.json").write_text('{"reward": 1}')  # of another run of the verifier

    done = verifier.run(**variables)

    assert done.returncode == 1
    assert done.stderr
    assert verifier.reward() is None


def test_a_fault_of_the_competition_is_no_reward(podium, experiment, tmp_path):  # type: ignore[no-untyped-def]
    folder = podium.competition(metric_py=FAILS_AT_4321)
    task = write_task(podium, folder.name, tmp_path / "task", elsewhere=True)
    verifier = Verifier(task, tmp_path / "home", podium.harness_key(experiment))
    verifier.submission.write_bytes(failing_file(folder))

    done = verifier.run()

    assert (done.returncode, verifier.reward()) == (1, None)
    assert "answered 500" in done.stderr


@pytest.mark.parametrize("url", ["http://", "http://[podium"])
def test_an_address_without_a_host_is_refused(tmp_path: Path, url: str) -> None:
    task = HarborTask("tiny", "Tiny", "1", "accuracy_score", True, "", (), url)
    with pytest.raises(Invalid, match="is not the address of a Podium"):
        task_folder.write_task(task, tmp_path / "task", lambda name, path: None)
    assert list(tmp_path.iterdir()) == []
