"""Every command explains itself; competitions, keys and runs by command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run"], "A run's key is made with its run"),
        (["researcher", "--expires", "soon"], "'soon' is not a lifetime"),
        (["researcher", "--expires", ""], "--expires is empty"),
        (["researcher", "--name", "x" * 201], "of 201 characters: expected at most 200"),
        (["researcher", "--name", "a\nb"], "no line ends"),
    ],
)
def test_keys_that_cannot_be_made_are_refused(
    podium: Command, arguments: list[str], told: str
) -> None:
    podium("db", "upgrade")
    done = podium("keys", "create", *arguments)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert told in " ".join(done.stderr.split())
    assert podium("keys", "list").stderr == "no keys\n"


def test_faults_of_a_submission_that_does_not_exist_are_refused(podium: Command) -> None:
    podium("db", "upgrade")
    done = podium("faults", "--submission", "sub_none")

    assert done.returncode == 1
    assert "There is no submission 'sub_none'" in done.stderr


@pytest.mark.parametrize(
    "words", ["backup", "restore --check", "import folder", "verify", "prepare tiny --raw"]
)
def test_an_empty_path_is_not_the_current_directory(podium: Command, words: str) -> None:
    """It comes from a variable that is not set: a backup went where the command ran."""
    done = podium(*words.split(), "")

    assert done.returncode == 2
    assert "expected a path, and it is empty" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        "regrade tiny --apply --reason x --submission", "report first --suite",
        "runs list --experiment", "runs list --competition", "keys list --run",
        "faults --submission", "items podium --experiment",
    ],
)  # fmt: skip
def test_an_empty_name_does_not_mean_all(podium: Command, words: str) -> None:
    """A regrade of one submission, whose variable was not set, was one of all that was applied."""
    done = podium(*words.split(), "")

    assert done.returncode == 2
    assert "expected a name, and it is empty" in " ".join(done.stderr.split())


def test_an_empty_address_is_not_the_podium_here(podium: Command) -> None:
    podium("db", "upgrade")
    done = podium("keys", "create", "admin", "--url", "")

    assert done.returncode == 2
    assert "leave the option out" in done.stderr
    assert podium("keys", "list").stderr == "no keys\n"


def test_a_suite_without_a_name_has_no_items(podium: Command) -> None:
    podium("db", "upgrade")
    done = podium("items", "")

    assert (done.returncode, done.stdout) == (1, "")
    assert "Name a suite" in done.stderr


@pytest.mark.parametrize(
    "words",
    ["verify --sample 1_0", "runs create tiny --experiment e --seeds 1_0",
     "runs create tiny --experiment e --hours 1_0.5"],
)  # fmt: skip
def test_a_number_has_no_underscore(podium: Command, words: str) -> None:
    """Python reads 1_0 as 10; over HTTP it is 422."""
    done = podium(*words.split())

    assert done.returncode == 2
    assert "without underscores" in " ".join(done.stderr.replace("│", " ").split())


def test_a_word_that_is_none_of_the_choices_is_refused_in_our_words(podium: Command) -> None:
    done = podium("report", "an-experiment", "--padding", "zero")

    assert done.returncode == 2
    assert "'--padding': 'zero' is not one of 'none'" in done.stderr


@pytest.mark.parametrize(
    "words",
    ["keys create", "keys create admin --role researcher", "prepare tiny", "prepare --raw .",
     "prepare tiny --raw . --suite podium"],
)  # fmt: skip
def test_words_that_are_missing_are_a_mistake_of_the_command_line(
    podium: Command, words: str
) -> None:
    done = podium(*words.split())

    assert done.returncode == 2
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


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("regrade tiny --to 9999999999999999999", "--to"),
        ("experiments withdraw-imports e --reason r --seed 9999999999999999999", "--seed"),
        ("experiments create f --agent a --model m --hours inf", "--hours"),
        ("experiments create f --agent a --model m --memory-gb inf", "--memory-gb"),
        ("experiments amend e --reason r --cost-usd inf", "--cost-usd"),
    ],
)
def test_a_number_that_cannot_be_stored_is_refused(
    podium: Command, tiny: Path, words: str, option: str
) -> None:
    podium("import", "folder", tiny)
    podium("experiments", "create", "e", "--agent", "a", "--model", "m")

    done = podium(*words.split())

    assert done.returncode == 2
    assert f"Invalid value for '{option}'" in done.stderr


@pytest.mark.parametrize("data", [b"", b"\xff\xfep\x00o\x00", b"pod_admin_x\npod_admin_y\n"])
def test_a_file_without_a_key_is_refused(podium: Command, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(data)

    done = podium("import", "kaggle", "tiny", "--from", "http://127.0.0.1:9", "--key-file", file)

    assert done.returncode == 1
    assert f"{file} has no key: expected a text of one line" in " ".join(done.stderr.split())
