"""`podium split`: a new folder with rows to search on, which can be imported."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import app.services.competitions.split_search as split_search_module
from app.errors import BadCompetition
from app.preparation.search_rows import mark_search_rows
from app.services.competitions.split_search import split_search
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


DAMAGE: dict[str, Callable[[Path], None]] = {
    "public/x.csv: is a symbolic link": lambda folder: (folder / "public" / "x.csv").symlink_to(
        folder / "private" / "answers.csv"
    ),
    "public/x.csv: is neither": lambda folder: os.mkfifo(folder / "public" / "x.csv"),
    "private/answers.csv: is not UTF-8 (byte 0)": lambda folder: change(
        folder / "private" / "answers.csv", lambda data: b"\xff" + data
    ),
    "competition.toml: is not UTF-8 (byte 0)": lambda folder: change(
        folder / "competition.toml", lambda data: b"\xff" + data
    ),
    "private/answers.csv.gz: is not a complete gzip file": lambda folder: change(
        (folder / "private" / "answers.csv").rename(folder / "private" / "answers.csv.gz"),
        lambda data: gzip.compress(data)[:-9],
    ),
}


def change(file: Path, by: Callable[[bytes], bytes]) -> None:
    file.write_bytes(by(file.read_bytes()))


@pytest.mark.parametrize("problem", DAMAGE)
def test_a_folder_that_no_import_takes_is_not_split(tmp_path: Path, problem: str) -> None:
    folder = write_competition(tmp_path / "tiny", rows=100)
    DAMAGE[problem](folder)

    with pytest.raises(BadCompetition) as refused:
        split_search(folder, tmp_path / "data", share=0.3, seed=0)

    first = refused.value.problems[0]
    assert f"{first['file']}: {first['message']}".startswith(problem)
    assert list((tmp_path / "data").glob("split/*")) == []


def test_packed_answers_are_split(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny", rows=100)
    answers = folder / "private" / "answers.csv"
    whole = split_search(folder, tmp_path / "one", share=0.3, seed=0)
    change(answers.rename(answers.with_name("answers.csv.gz")), gzip.compress)

    packed = split_search(folder, tmp_path / "two", share=0.3, seed=0)

    texts = [(one.folder / "private" / "answers.csv").read_bytes() for one in (whole, packed)]
    assert texts[0] == texts[1]
    assert os.listdir(packed.folder / "private") == ["answers.csv"]  # noqa: PTH208


@pytest.mark.parametrize("name", ["public/train.csv", "public"])
def test_a_link_that_takes_the_place_of_a_file_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The owner of a folder that somebody else splits could have their files copied."""
    folder = write_competition(tmp_path / "tiny", rows=100, usage=None)
    (folder / "public" / "train.csv").write_text("id,x\n1,2\n")
    away = tmp_path / "away"
    mark = mark_search_rows

    def swapped(*arguments: Any) -> Any:  # after files are listed, before they are copied
        (folder / name).rename(away)
        (folder / name).symlink_to(away)
        return mark(*arguments)

    monkeypatch.setattr(split_search_module, "mark_search_rows", swapped)
    with pytest.raises(BadCompetition, match="symbolic link"):
        split_search(folder, tmp_path / "data", share=0.2, seed=0)

    assert not (tmp_path / "data" / "split" / "tiny").exists()
