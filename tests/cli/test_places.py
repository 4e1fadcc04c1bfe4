"""Which folder and which data directory a command works on, from any directory."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Done
from tests.factories import good_submission, write_competition, write_submission
from tests.forkserver import run_podium


def podium_in(directory: Path, *words: object, **variables: str) -> Done:
    """`podium` in a directory, with no setting but these."""
    return run_podium(
        words,
        cwd=directory,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
            "COLUMNS": "160", **variables,
        },
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """An empty directory to work in."""
    directory = tmp_path / "empty"
    directory.mkdir()
    return directory


def test_a_folder_is_graded_by_its_path_without_an_import(empty: Path, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "mine" / "tiny")
    file = write_submission(tmp_path / "s.csv", good_submission(folder, shift=0.12))

    done = podium_in(empty, "grade", folder, file)
    here = podium_in(folder, "grade", ".", file)
    beside = podium_in(folder.parent, "grade", "tiny", file)

    assert done.returncode == 0, done.stderr
    grade = json.loads(done.stdout)
    assert grade["score"] == pytest.approx(0.12)
    assert (grade["competition"], grade["competition_version"]) == ("tiny", None)
    assert json.loads(here.stdout) == grade == json.loads(beside.stdout)
    assert list(empty.iterdir()) == []


def test_a_folder_and_its_import_give_the_same_grade(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    file = write_submission(tmp_path / "s.csv", good_submission(tiny, shift=0.12))
    by_folder = json.loads(podium("grade", "tiny", file).stdout)
    assert podium("import", "folder", tiny).returncode == 0

    by_import = json.loads(podium("grade", "tiny", file).stdout)

    assert by_import == {**by_folder, "competition_version": 1}


def test_a_bundled_competition_is_graded_and_checked_by_its_name(
    empty: Path, tmp_path: Path
) -> None:
    file = write_submission(tmp_path / "s.csv", b"datetime,count\n")

    graded = podium_in(empty, "grade", "bike-sharing-demand", file)
    checked = podium_in(empty, "check", "bike-sharing-demand")

    assert graded.returncode == 3, graded.stderr
    assert json.loads(graded.stdout)["problem"]["violations"]
    assert "bike-sharing-demand: ok, 2,860 rows" in checked.stdout
    assert list(empty.iterdir()) == []


def test_check_takes_the_path_of_a_folder(empty: Path, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "mine" / "tiny")

    done = podium_in(empty, "check", folder)
    wrong = podium_in(empty, "check", tmp_path / "mine")

    assert done.stdout.splitlines()[0] == "tiny: ok, 20 rows"
    assert wrong.returncode == 1
    assert f"{tmp_path / 'mine'} with a competition.toml" in wrong.stderr


def test_a_folder_here_with_another_competitions_name_is_asked_about(
    empty: Path, podium: Command, tiny: Path
) -> None:
    shutil.copytree(tiny, empty / "tiny")

    done = podium_in(empty, "check", "tiny", PODIUM_COMPETITIONS_DIR=str(tiny.parent))
    path = podium_in(empty, "check", "./tiny", PODIUM_COMPETITIONS_DIR=str(tiny.parent))

    assert done.returncode == 1
    assert "./tiny" in done.stderr
    assert path.returncode == 0


def test_a_folder_without_answers_cannot_be_graded(empty: Path, tmp_path: Path) -> None:
    file = write_submission(tmp_path / "s.csv", b"id,target\n")

    done = podium_in(empty, "grade", "spooky-author-identification", file)

    assert done.returncode == 1
    assert "has no private/" in done.stderr


@pytest.mark.parametrize(
    "words",
    [["keys", "list"], ["keys", "create", "researcher"], ["competitions", "list"],
     ["runs", "create", "--experiment", "first", "--competition", "tiny"], ["report", "first"]],
    ids=" ".join,
)  # fmt: skip
def test_a_command_where_no_podium_is_says_so_and_makes_none(empty: Path, words: list[str]) -> None:
    done = podium_in(empty, *words)

    assert done.returncode == 1
    assert f"{empty / 'data'}" in done.stderr
    assert "PODIUM_DATA_DIR" in done.stderr
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("name", ["feature%2Fnew", "a%41", "what?mode=ro", "a#b", "100% ü"])
def test_the_database_is_in_the_data_directory_whatever_its_name(tmp_path: Path, name: str) -> None:
    data = tmp_path / "all" / name
    data.parent.mkdir()
    folder = write_competition(tmp_path / "tiny")

    done = podium_in(tmp_path, "import", "folder", folder, PODIUM_DATA_DIR=str(data))
    listed = podium_in(tmp_path, "competitions", "list", PODIUM_DATA_DIR=str(data))

    assert done.returncode == 0, done.stderr
    assert (data / "podium.db").is_file()
    assert "tiny" in listed.stdout
    assert [each.name for each in data.parent.iterdir()] == [name]
