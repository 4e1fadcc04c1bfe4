"""The contract in prose: general, and filled in for the key that asks."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.conftest import Podium, Run


def test_without_a_key_it_is_general(podium: Podium) -> None:
    answer = podium.client().get("/SKILL.md")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert answer.text.startswith("---\nname: podium\n")
    assert "$PODIUM_RUN/submissions" in answer.text
    assert podium.server.url in answer.text
    assert podium.client().get("/llms.txt").text == answer.text
    assert podium.admin.get("/SKILL.md").text == answer.text
    assert podium.client("pod_run_wrong").get("/SKILL.md").status_code == 401


@pytest.mark.parametrize("policy", ["none", "validity", "public", "full"])
def test_a_runs_key_fills_in_its_run(podium: Podium, tiny: Path, good: bytes, policy: str) -> None:
    limits = {"submissions_total": 7, "submissions_per_day": 3, "hours": 24}
    run = podium.run(tiny, feedback=policy, limits=limits)
    run.submit(good)

    text = run.client.get("/SKILL.md").text

    for expected in (
        run.id, tiny.name, "root_mean_squared_error; lower is better", f"Policy `{policy}`",
        "At most 7 submissions; used: 1", "you may send now: 2", "Hours: 24",
        "`id`: the id", "`target`: number", "20 rows", "files/train.csv",
    ):  # fmt: skip
        assert expected in text, expected
    assert "SLUG" not in text
    assert "threshold" not in text


def test_its_commands_run_as_they_stand(
    podium: Podium, tiny: Path, good: bytes, tmp_path: Path
) -> None:
    run = podium.run(tiny)
    key = run.client.headers["Authorization"].removeprefix("Bearer ")
    text = run.client.get("/SKILL.md").text
    script = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert script is not None
    (tmp_path / "submission.csv").write_bytes(good)
    commands = script[1].split("# your submissions;")[0]

    done = subprocess.run(
        ["bash", "-e", "-c", f"export PODIUM_KEY={shlex.quote(key)}\n{commands}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert (tmp_path / "train.csv").read_bytes() == (tiny / "public/train.csv").read_bytes()
    assert (tmp_path / "sample_submission.csv").exists()
    assert '"valid":true' in done.stdout
    items = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    assert [one["state"] for one in items] == ["graded"]


def commands_of(run: Run) -> str:
    script = re.search(r"```sh\n(.*?)```", run.client.get("/SKILL.md").text, re.DOTALL)
    assert script is not None
    return script[1]


@pytest.mark.parametrize("name", ["my table #1.csv", "$(touch found)`touch found`.csv", 'a"b?.csv'])
def test_a_file_is_fetched_whatever_its_name(podium: Podium, tmp_path: Path, name: str) -> None:
    folder = podium.folder()
    (folder / "public/train.csv").rename(folder / "public" / name)
    assert podium.send_folder(folder).status_code == 201
    run = podium.run(folder)
    key = run.client.headers["Authorization"].removeprefix("Bearer ")
    commands = commands_of(run).split("# check the form")[0]

    subprocess.run(
        ["bash", "-e", "-c", f"export PODIUM_KEY={shlex.quote(key)}\n{commands}"],
        cwd=tmp_path, capture_output=True, check=True,
    )  # fmt: skip

    assert {one.name for one in tmp_path.iterdir()} == {name, "sample_submission.csv"}
    assert (tmp_path / name).read_bytes() == (folder / "public" / name).read_bytes()


def test_no_command_fetches_a_file_that_is_not_there(podium: Podium) -> None:
    folder = podium.folder()
    (folder / "public/train.csv").unlink()
    assert podium.send_folder(folder).status_code == 201

    commands = commands_of(podium.run(folder))

    assert "/files/" not in commands
    assert "/sample-submission" in commands
    assert "/submissions" in commands


def test_a_measured_competition_has_no_commands_that_send_files(podium: Podium) -> None:
    folder = podium.folder()
    for part in ("public", "private"):
        shutil.rmtree(folder / part)
    (folder / "leaderboard.csv").unlink()
    (folder / "competition.toml").write_text(
        'title = "Speed"\nversion = 1\n[metric]\nmeasured = true\nname = "seconds"\n'
        'higher_is_better = false\nunit = "seconds"\nharness = "a script"\n'
    )
    assert podium.send_folder(folder).status_code == 201

    commands = commands_of(podium.run(folder))

    assert "/description" in commands
    for path in ("/files/", "/sample-submission", "/validate", "/submissions", "/selected"):
        assert path not in commands


def test_a_harness_reads_how_to_grade(podium: Podium) -> None:
    experiment = podium.experiment()
    text = podium.client(podium.harness_key(experiment)).get("/SKILL.md").text

    assert experiment in text
    assert "/grade?seed=0" in text
