"""Kaggle's leaderboards, also such as Kaggle does not write: read, or refused in words."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from app.domain.read_leaderboard import read_score_texts
from app.errors import BadCompetition
from app.importers.kaggle_leaderboard import MAX_BYTES, read_kaggle_leaderboard


def scores_of(data: bytes, tmp_path: Path) -> list[float]:
    file = tmp_path / "board"
    file.write_bytes(data)
    return [float(text) for text in read_score_texts(read_kaggle_leaderboard(file).csv_text)]


def zipped(text: bytes) -> bytearray:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("board.csv", text)
    return bytearray(out.getvalue())


def test_scores_are_in_the_order_of_their_ranks(tmp_path: Path) -> None:
    assert scores_of(b"Rank,Score\n10,3\n2,2\n1,1\n", tmp_path) == [1, 2, 3]
    assert scores_of(bytes(zipped(b"Rank,Score\n2,2\n1,1\n")), tmp_path) == [1, 2]


def test_teams_without_a_score_are_counted_and_blank_lines_are_not(tmp_path: Path) -> None:
    (tmp_path / "board.csv").write_text("Rank,Score\n1,0.5\n\n2,\n3\n")
    found = read_kaggle_leaderboard(tmp_path / "board.csv")
    assert (found.csv_text, found.teams, found.without_score) == ("place,score\n1,0.5\n", 1, 2)


OTHER_COLUMNS = {
    b"": "has no column Score: it is empty",
    b"Rank\n1\n": "has no column Score: its columns, separated by commas, are 'Rank'",
    b"score;team\n0,9;a\n": "are 'score;team'",
    b"a,b,c,d,e,f,g\n": "are 'a', 'b', 'c', 'd', 'e' and 2 more",
    b"Score,score\n1,1\n": "has 2 columns Score: leave one",
}


@pytest.mark.parametrize("data", OTHER_COLUMNS)
def test_a_file_without_one_column_of_scores_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(BadCompetition) as refused:
        scores_of(data, tmp_path)

    (problem,) = refused.value.problems
    assert problem["message"].endswith(OTHER_COLUMNS[data])


def test_a_zip_of_two_boards_and_a_large_file_are_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("one.csv", b"score\n1\n")
        archive.writestr("two.CSV", b"score\n1\n")
    with pytest.raises(BadCompetition, match="does not hold one CSV file"):
        scores_of(out.getvalue(), tmp_path)
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", MAX_BYTES + 1)
    with pytest.raises(BadCompetition, match=f"is larger than {MAX_BYTES} bytes"):
        read_kaggle_leaderboard(tmp_path / "large")


@pytest.mark.parametrize("rank", ["\N{SUPERSCRIPT TWO}", "9" * 5_000, "", "-1", "\u0663"])
def test_a_rank_that_is_no_number_leaves_the_order_of_the_file(rank: str, tmp_path: Path) -> None:
    assert scores_of(f"rank,score\n{rank},2\n1,1\n".encode(), tmp_path) == [2, 1]
    assert scores_of(f"score,rank\n2,{rank}\n1\n".encode(), tmp_path) == [2, 1]


@pytest.mark.parametrize("cell", ["0.5\n2,0.9", "0.5\r0.9", "0,5"])
def test_a_cell_is_one_score_or_none(cell: str, tmp_path: Path) -> None:
    with pytest.raises(BadCompetition, match=r"not a finite score: row 2|several lines"):
        scores_of(f'score\n0.1\n"{cell}"\n'.encode(), tmp_path)


@pytest.mark.parametrize("damage", ["password", "bytes", "method", "cut"])
def test_a_zip_that_cannot_be_read_is_told(damage: str, tmp_path: Path) -> None:
    data = zipped(b"score\n1\n")
    directory = data.index(b"PK\x01\x02")
    match damage:
        case "password":
            data[6] |= 1
            data[directory + 8] |= 1
        case "bytes":
            data[data.index(b"score")] ^= 1
        case "method":
            data[8] = data[directory + 10] = 99
        case "cut":
            del data[20:directory]
    with pytest.raises(BadCompetition, match="is a zip that cannot be read"):
        scores_of(bytes(data), tmp_path)


def test_a_board_in_another_encoding_is_told(tmp_path):
    with pytest.raises(BadCompetition, match=r"is not UTF-8 \(byte 0\): save it as a CSV in UTF-8"):
        scores_of("Score\n1\n".encode("utf-16"), tmp_path)
