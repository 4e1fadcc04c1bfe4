"""`podium split`: a new folder with rows to search on, which can be imported."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command
from tests.factories import write_competition


def test_a_folder_gets_rows_to_search_on(podium: Command, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "here" / "tiny", rows=100, usage=None)
    before = (folder / "private" / "answers.csv").read_bytes()

    done = podium("split", folder, "--search", "0.2", "--seed", "1", "--json")

    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["rows"] == {"Private": 80, "Search": 20}
    assert (folder / "private" / "answers.csv").read_bytes() == before
    checked = podium("check", made["folder"])
    assert checked.returncode == 0, checked.stderr
    imported = podium("import", "folder", made["folder"])
    assert imported.returncode == 0, imported.stderr


def test_a_bundled_competition_is_split_by_its_name(podium: Command) -> None:
    done = podium("split", "bike-sharing-demand", "--search", "0.25")

    assert done.returncode == 0, done.stderr
    assert "Search" in done.stdout
    made = Path(done.stdout.split("podium import folder ")[1].strip())
    assert sorted(file.name for file in (made / "private").iterdir()) == ["answers.csv"]


def test_a_folder_without_answers_is_refused(podium: Command, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "here" / "tiny")
    (folder / "private" / "answers.csv").unlink()

    done = podium("split", folder, "--search", "0.2")

    assert done.returncode == 1
    assert "without the answers" in done.stderr
