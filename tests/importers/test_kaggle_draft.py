"""A draft is made of what Kaggle's archive has, also where its sample cannot be read."""

from __future__ import annotations

import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.importers.kaggle_draft import write_draft
from app.importers.kaggle_source import KaggleCompetition

ABOUT = KaggleCompetition("bikes", "Bikes", "", "rmse", "", (), True, 1, 1, is_all=True)


def draft(tmp_path: Path, archive: Path, about: KaggleCompetition = ABOUT) -> str:
    write_draft(tmp_path / "bikes", about, {}, archive)
    return (tmp_path / "bikes" / "competition.toml").read_text()


@pytest.mark.parametrize(("sample", "columns"), [
    (b"row,count\nr1,1\n", ("row", "count")),
    (b"row,count\rr1,1\r", ("id", "target")),  # line ends of an old Mac: no CSV for Python
])  # fmt: skip
def test_the_columns_are_those_of_the_sample(
    tmp_path: Path, sample: bytes, columns: tuple[str, str]
) -> None:
    archive = tmp_path / "bikes.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("sample_submission.csv", sample)

    text = draft(tmp_path, archive)

    assert f'id = "{columns[0]}"' in text
    assert f'"{columns[1]}" = {{ kind' in text


def test_what_kaggle_says_is_in_the_draft_and_guesses_are_called_so(tmp_path: Path) -> None:
    archive = tmp_path / "bikes.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("sample_submission.txt", b"row,count\n")
    about, pages = replace(ABOUT, url="https://example.org"), {"evaluation": " By error. "}

    todo = write_draft(tmp_path / "guessed", about, pages, archive)
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("sample_submission.csv", b"row,count\n")
    known = write_draft(tmp_path / "known", replace(about, url="", metric=""), {}, archive)

    written = {
        folder: [(tmp_path / folder / name).read_text() for name in ("description.md", "README.md")]
        for folder in ("guessed", "known")
    }
    assert "so the names are guesses" in todo[1]
    assert "guesses" not in known[1]
    assert (written["guessed"][0], written["known"][0]) == ("By error.\n", "# Bikes\n")
    assert "Drafted from https://example.org. What" in written["guessed"][1]
    assert "Drafted from bikes. What" in written["known"][1]
    for folder, name in (("guessed", "'rmse'"), ("known", "'nothing'")):
        text = (tmp_path / folder / "competition.toml").read_text()
        assert f"# Kaggle calls it {name}; the names here" in text


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_damaged_sample_is_none(tmp_path: Path, method: int) -> None:
    archive = tmp_path / "bikes.zip"
    with zipfile.ZipFile(archive, "w", method) as opened:
        opened.writestr("sample_submission.csv", b"row,count\n" * 50)
    data = bytearray(archive.read_bytes())
    start = data.index(b".csv") + 4
    data[start : start + 12] = b"\xff" * 12
    archive.write_bytes(data)

    assert 'id = "id"' in draft(tmp_path, archive)


def test_control_characters_stay_in_the_texts_of_a_draft(tmp_path: Path) -> None:
    """TOML allows none of them unescaped, JSON allows U+007F."""
    controls = "".join(map(chr, (*range(32), *range(127, 160))))
    about = replace(ABOUT, title=controls, metric=controls, tags=(controls,))

    found = tomllib.loads(draft(tmp_path, tmp_path / "bikes.zip", about))

    assert (found["title"], found["tags"]) == (controls, [controls])
