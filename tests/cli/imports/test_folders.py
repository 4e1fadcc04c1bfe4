"""`podium import folder` and `archive`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path

from app.services.operations.start_checks import refuse_other_store
from app.settings import Settings
from tests.api.conftest import packed
from tests.cli.conftest import Command
from tests.factories import write_competition, write_submission
from tests.forkserver import run_podium
from tests.grading_reports import entry, medal_lines
from tests.grading_reports import report as report_of


def test_folders_and_archives_are_imported_once(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    archive = write_submission(tmp_path / "tiny.tar.gz", packed(tiny))

    first = podium("import", "folder", tiny)
    again = podium("import", "archive", archive, "--json")
    known = podium("import", "folder", tiny)

    assert "tiny imported as version 1 (ready)" in first.stdout
    assert json.loads(again.stdout)[0] | {"lint": []} == {
        "slug": "tiny", "version": 1, "created": False, "status": "ready", "lint": []
    }  # fmt: skip
    assert "tiny was imported before as version 1 (ready)" in known.stdout


def test_a_mistake_of_no_file_is_told_without_a_place(podium: Command, tiny: Path) -> None:
    refused = podium("import", "folder", tiny.rename(tiny.parent / "a b"))

    assert refused.stderr.splitlines()[1].startswith("  the folder's name 'a b' cannot be a slug")


def test_an_import_in_a_directory_without_a_podium_says_where_it_makes_one(tiny: Path) -> None:
    empty = tiny.parent
    unset = {k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")}
    first, again = (
        run_podium(
            ("import", "folder", "tiny"), env=unset, cwd=empty,
            capture_output=True, text=True, check=False, timeout=120,
        )
        for _ in range(2)
    )  # fmt: skip

    assert f"There was no Podium in {empty / 'data'}: this command makes a new one" in first.stderr
    assert "There was no Podium" not in again.stderr
    assert "tiny imported as version 1 (ready)" in first.stdout
    assert (first.returncode, again.returncode) == (0, 0)


def test_each_warning_names_its_competition(podium: Command, tiny: Path, tmp_path: Path) -> None:
    other = write_competition(tmp_path / "other")

    done = podium("import", "folder", tiny, other)

    assert done.returncode == 0
    warned = [line.split(": warning: ")[0] for line in done.stderr.splitlines() if "warn" in line]
    assert set(warned) == {"tiny", "other"}  # few teams, of either


def test_what_is_imported_into_something_archived_is_told_so(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    board = tmp_path / "board.csv"
    board.write_text("TeamId,Score\n" + "".join(f"{n},{n / 100}\n" for n in range(1, 60)))
    report = tmp_path / "report.json"
    row = {**next(iter(medal_lines().values())), "slug": "tiny"}
    report.write_text(json.dumps(report_of([entry(row, 0.5)])))
    create = ("experiments", "create", "old", "--agent", "a", "--model", "m")
    before = podium("import", "folder", tiny)
    assert podium(*create).returncode == 0
    for group, name in (("competitions", "tiny"), ("experiments", "old")):
        assert podium(group, "archive", name, "--reason", "a leak").returncode == 0

    again = podium("import", "folder", tiny, "--json")
    new_board = podium("import", "leaderboard", "tiny", board)
    results = podium("import", "grading-report", "old", report)

    assert "archived" not in before.stderr
    assert json.loads(again.stdout)[0]["created"] is False
    told = "The competition tiny is archived (a leak): lists and results leave it out"
    for done in (again, new_board):
        assert (done.returncode, told in done.stderr) == (0, True), done.stderr
    assert results.returncode == 0, results.stderr
    assert "The experiment old is archived (a leak)" in results.stderr
    assert "podium experiments restore old" in results.stderr


def test_an_import_stores_nothing_where_the_disk_of_files_is_not_mounted(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    blobs = tmp_path / "data" / "blobs"
    assert podium("import", "folder", tiny).returncode == 0
    refuse_other_store(Settings(data_dir=tmp_path / "data"))  # a server has started
    blobs.rename(tmp_path / "elsewhere")
    (tiny / "description.md").write_text("# Tiny\n\nAnother version.\n")

    done = podium("import", "folder", tiny)

    assert done.returncode == 1
    assert "is it mounted?" in done.stderr
    assert [file for file in blobs.glob("??/*") if file.is_file()] == []


def test_a_folder_with_mistakes_is_told_file_and_key(podium: Command, tiny: Path) -> None:
    toml = (tiny / "competition.toml").read_text()
    (tiny / "competition.toml").write_text(toml.replace("version = 1", 'version = "one"\nx = 1'))

    done = podium("import", "folder", tiny)

    assert done.returncode == 1
    assert "competition.toml: version: " in done.stderr
    assert "competition.toml: x: unknown key" in done.stderr


def test_a_folder_of_a_thousand_folders_is_told(podium: Command, tiny: Path) -> None:
    with contextlib.chdir(tiny / "public"):
        for _ in range(1_500):  # deeper than Python calls itself
            Path("d").mkdir()
            os.chdir("d")
    try:
        done = podium("import", "folder", tiny)
    finally:
        subprocess.run(["rm", "-rf", str(tiny / "public")], check=True)  # rmtree calls itself too

    assert done.returncode == 1
    assert "the path is longer than 200 characters" in done.stderr
