from __future__ import annotations

import csv
import io
import json
import shutil
import socket
from pathlib import Path

import pytest

from tests.api.conftest import packed
from tests.cli.conftest import Command
from tests.factories import good_submission, write_competition, write_submission
from tests.server import PodiumServer

COMMANDS = [
    [], ["serve"], ["demo"], ["check"], ["grade"], ["import"], ["import", "folder"],
    ["import", "archive"], ["competitions"], ["competitions", "list"], ["competitions", "show"],
    ["competitions", "lint"], ["keys"], ["keys", "create"], ["keys", "list"], ["keys", "revoke"],
    ["runs"], ["runs", "create"], ["runs", "list"],
    ["runs", "new-key"], ["runs", "archive"], ["experiments", "create"], ["experiments", "restore"],
    ["competitions", "archive"], ["results"],
    ["db"], ["db", "upgrade"], ["db", "downgrade"], ["db", "check"],
    ["backup"], ["restore"], ["prepare"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(podium: Command, command: list[str]) -> None:
    done = podium(*command, "--help")

    assert done.returncode == 0
    assert "Usage: podium" in done.stdout


def test_a_good_file_is_graded_without_a_server(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    podium("import", "folder", tiny)
    file = write_submission(tmp_path / "s.csv", good_submission(tiny, shift=0.12))

    done = podium("grade", "tiny", file)

    assert done.returncode == 0, done.stderr
    grade = json.loads(done.stdout)
    assert grade["score"] == pytest.approx(0.12)
    assert (grade["state"], grade["medal"], grade["better"]) == ("graded", "bronze", 2)


def test_a_bad_file_ends_with_3_and_every_violation(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    podium("import", "folder", tiny)
    file = write_submission(tmp_path / "s.csv", b"id,target\nr1,abc\nr2,inf\n")

    done = podium("grade", "tiny", file)

    assert done.returncode == 3
    problem = json.loads(done.stdout)["problem"]
    assert {v["code"] for v in problem["violations"]} == {
        "row_count", "missing_id", "not_a_number", "not_finite"
    }  # fmt: skip


def test_grading_for_a_competition_that_is_not_here_says_what_to_do(
    podium: Command, tmp_path: Path
) -> None:
    file = write_submission(tmp_path / "s.csv", b"id,target\n")

    done = podium("grade", "nowhere", file)

    assert done.returncode == 1
    assert "'nowhere'" in done.stderr
    assert "the path of the folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_metric_that_breaks_is_our_fault_not_the_files(podium: Command, tmp_path: Path) -> None:
    source = "def score(answers, submission):\n    return 0.0\n"
    folder = write_competition(tmp_path / "odd", metric="my_error", metric_py=source)
    assert podium("import", "folder", folder).returncode == 0
    broken = "def score(answers, submission):\n    return 1 / (submission['target'].sum() * 0)\n"
    (folder / "metric.py").write_text(broken)

    done = podium("import", "folder", folder)

    assert done.returncode == 1
    assert "metric.py" in done.stderr


def test_folders_and_archives_are_imported_once(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    archive = write_submission(tmp_path / "tiny.tar.gz", packed(tiny))

    first = podium("import", "folder", tiny)
    again = podium("import", "archive", archive, "--json")

    assert "tiny imported as version 1 (ready)" in first.stdout
    assert json.loads(again.stdout)[0] | {"lint": []} == {
        "slug": "tiny", "version": 1, "created": False, "status": "ready", "lint": []
    }  # fmt: skip


def test_a_folder_with_mistakes_is_told_file_and_key(podium: Command, tiny: Path) -> None:
    toml = (tiny / "competition.toml").read_text()
    (tiny / "competition.toml").write_text(toml.replace("version = 1", 'version = "one"\nx = 1'))

    done = podium("import", "folder", tiny)

    assert done.returncode == 1
    assert "competition.toml: version: " in done.stderr
    assert "competition.toml: x: unknown key" in done.stderr


def test_check_passes_over_good_folders_and_names_what_is_wrong(
    podium: Command, tiny: Path
) -> None:
    good = podium("check")
    shutil.copytree(tiny, tiny.parent / "other")
    (tiny.parent / "other" / "private" / "answers.csv").write_text("id,target\nr1,x\n")
    bad = podium("check")

    assert good.returncode == 0
    assert "tiny: ok, 20 rows" in good.stdout
    assert bad.returncode == 1
    assert "other: private/answers.csv" in bad.stderr


def test_check_refuses_a_suite_of_unknown_competitions(podium: Command, tiny: Path) -> None:
    suites = '[suites.mine]\ntitle = "Mine"\ncompetitions = ["tiny", "nowhere"]\n'
    (tiny.parent / "suites.toml").write_text(suites)

    done = podium("check")

    assert done.returncode == 1
    assert "'nowhere'" in done.stderr


def test_competitions_are_listed_shown_and_linted(podium: Command, tiny: Path) -> None:
    podium("import", "folder", tiny)

    listed = json.loads(podium("competitions", "list", "--json").stdout)
    shown = json.loads(podium("competitions", "show", "tiny", "--json").stdout)
    lint = json.loads(podium("competitions", "lint", "tiny", "--json").stdout)

    assert [c["slug"] for c in listed] == ["tiny"]
    assert shown["teams"] == 12
    assert [finding["code"] for finding in lint] == ["few_teams"]
    assert "tiny" in podium("competitions", "list").stdout


def test_keys_are_made_listed_and_revoked(podium: Command) -> None:
    podium("db", "upgrade")
    key = podium("keys", "create", "researcher", "--name", "ada", "--expires", "90d").stdout.strip()
    listed = podium("keys", "list", "--json").stdout
    record = json.loads(listed)[0]

    revoked = podium("keys", "revoke", record["id"])
    unknown = podium("keys", "revoke", "key_nowhere")

    assert key.startswith("pod_researcher_")
    assert key not in listed
    assert record["name"] == "ada"
    assert record["expires_at"] is not None
    assert revoked.returncode == 0
    assert json.loads(podium("keys", "list", "--json").stdout)[0]["revoked_at"] is not None
    assert unknown.returncode == 1


@pytest.mark.parametrize("arguments", [["run"], ["researcher", "--expires", "soon"]])
def test_keys_that_cannot_be_made_are_refused(podium: Command, arguments: list[str]) -> None:
    done = podium("keys", "create", *arguments)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_runs_need_their_experiment_first(podium: Command, tiny: Path) -> None:
    suites = '[suites.mine]\ntitle = "Mine"\ncompetitions = ["tiny"]\n'
    (tiny.parent / "suites.toml").write_text(suites)
    podium("import", "folder", tiny)
    missing = podium("runs", "create", "--experiment", "e", "--suite", "mine")

    assert missing.returncode == 1
    assert "experiment 'e'" in missing.stderr


def test_runs_need_a_suite_or_competitions(podium: Command) -> None:
    done = podium("runs", "create", "--experiment", "e")

    assert done.returncode == 1
    assert "--suite" in done.stderr


def test_the_schema_goes_up_and_down(podium: Command) -> None:
    for arguments in (["upgrade"], ["downgrade", "base"], ["upgrade"], ["check"]):
        done = podium("db", *arguments)
        assert done.returncode == 0, done.stderr


def test_a_second_server_on_the_same_data_is_refused(podium: Command, tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data").start()
    try:
        second = podium("serve", "--port", "0")
    finally:
        server.stop()

    assert second.returncode != 0
    assert "already runs" in second.stderr


def test_a_taken_port_is_told(podium: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = podium("serve", "--port", taken.getsockname()[1])

    assert done.returncode == 1
    assert "Choose another --port" in done.stderr


def test_runs_of_a_suite_are_printed_as_csv(podium: Command, tiny: Path, tmp_path: Path) -> None:
    suites = '[suites.mine]\ntitle = "Mine"\ncompetitions = ["tiny"]\n'
    (tiny.parent / "suites.toml").write_text(suites)
    podium("import", "folder", tiny)
    server = PodiumServer(tmp_path / "data").start()
    try:
        with server.client() as admin:
            body = {"name": "e", "agent": "a", "model": "m"}
            assert admin.post("/v1/experiments", json=body).status_code == 201
        made = podium("runs", "create", "--experiment", "e", "--suite", "mine", "--seeds", 3)
    finally:
        server.stop()

    rows = list(csv.DictReader(io.StringIO(made.stdout)))
    assert [(r["competition"], r["seed"]) for r in rows] == [
        ("tiny", "0"),
        ("tiny", "1"),
        ("tiny", "2"),
    ]
    assert all(r["key"].startswith("pod_run_") for r in rows)
