"""A copy of a folder whose answers have rows to search on; the folder itself stays as it is."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from app.errors import BadCompetition, Invalid, NeedsData
from app.services.competitions.split_search import split_search
from tests.factories import write_competition

ANSWERS = "private/answers.csv"


def texts(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_only_the_usage_of_private_rows_differs_in_the_copy(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "bikes", rows=80)  # half of them private
    before = texts(folder)

    made = split_search(folder, tmp_path / "data", share=0.25, seed=1)

    after = texts(made.folder)
    rows = [list(csv.DictReader(text[ANSWERS].splitlines())) for text in (before, after)]
    pairs = Counter((old["Usage"], new["Usage"]) for old, new in zip(*rows, strict=True))
    assert pairs == {
        ("Public", "Public"): 40, ("Private", "Private"): 30, ("Private", "Search"): 10,
    }  # fmt: skip
    assert made.rows == {"Private": 30, "Public": 40, "Search": 10}
    cells = [[(row["id"], row["target"]) for row in each] for each in rows]
    assert cells[0] == cells[1]
    assert {**before, ANSWERS: ""} == {**after, ANSWERS: ""}
    assert texts(folder) == before


def test_another_split_replaces_the_one_before_and_a_refused_one_does_not(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "bikes", rows=80)
    made = split_search(folder, tmp_path / "data", share=0.25, seed=1).folder
    first = texts(made)[ANSWERS]

    assert split_search(folder, tmp_path / "data", share=0.25, seed=2).folder == made
    second = texts(made)[ANSWERS]
    assert second != first
    with pytest.raises(Invalid, match="both they and the rest need at least 10"):
        split_search(folder, tmp_path / "data", share=0.01, seed=2)
    (folder / ANSWERS).write_bytes(b"id,target\n\xff\n")
    with pytest.raises(BadCompetition, match="is not UTF-8"):
        split_search(folder, tmp_path / "data", share=0.25, seed=2)
    (folder / ANSWERS).unlink()
    with pytest.raises(NeedsData, match=r"There is no .*answers\.csv"):
        split_search(folder, tmp_path / "data", share=0.25, seed=2)

    assert texts(made)[ANSWERS] == second
    assert [one.name for one in made.parent.iterdir()] == ["bikes"]
