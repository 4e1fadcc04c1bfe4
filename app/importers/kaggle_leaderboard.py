"""Convert Kaggle's leaderboard file: a CSV, maybe with a BOM, maybe in a zip."""

from __future__ import annotations

import csv
import hashlib
import io
import lzma
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from app.domain.read_leaderboard import FILE
from app.errors import BadCompetition
from app.importers.json_text import quoted
from app.importers.names import problem

MAX_BYTES = 64 << 20
SCORE, RANK = "score", "rank"
SHOWN_COLUMNS = 5  # names in a message
LONGEST_RANK = 9  # digits
# Damage, a method that Python lacks, and a password.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
    OSError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KaggleLeaderboard:
    """A leaderboard.csv made from Kaggle's, without names of teams and people.

    `without_score` is the number of teams without a score.
    """

    csv_text: str
    teams: int
    without_score: int
    sha256: str
    name: str


def read_kaggle_leaderboard(file: Path) -> KaggleLeaderboard:
    """Read Kaggle's leaderboard download, or a CSV with a column `score` in any case.

    Raises:
        BadCompetition: the file is neither.
    """
    name, data = _content(file)
    try:
        text = data.decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except UnicodeDecodeError as error:
        raise _bad_file(
            name, f"is not UTF-8 (byte {error.start}): save it as a CSV in UTF-8"
        ) from None
    except csv.Error as error:
        raise _bad_file(name, f"is not a CSV file: {error}") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if SCORE not in header:
        raise _bad_file(name, _without_score(rows[0] if rows else []))
    if header.count(SCORE) > 1:
        raise _bad_file(name, f"has {header.count(SCORE)} columns Score: leave one")
    column = header.index(SCORE)
    body = [row for row in rows[1:] if len(row) > column]
    if RANK in header:
        body = _by_rank(body, header.index(RANK))
    scores = [row[column].strip() for row in body]
    known = [score for score in scores if score]
    if odd := next((score for score in known if len(score.splitlines()) > 1), None):
        raise _bad_file(name, f"has a cell of several lines: {quoted(odd)}")
    lines = ["place,score", *(f"{place},{score}" for place, score in enumerate(known, start=1))]
    return KaggleLeaderboard(
        csv_text="\n".join(lines) + "\n",
        teams=len(known),
        without_score=len(rows) - 1 - len(known),
        sha256=hashlib.sha256(data).hexdigest(),
        name=name,
    )


def _by_rank(rows: list[list[str]], column: int) -> list[list[str]]:
    """The rows by their rank; unchanged if one has none."""
    ranks = [row[column] if len(row) > column else "" for row in rows]
    if not all(rank.isascii() and rank.isdigit() and len(rank) <= LONGEST_RANK for rank in ranks):
        return rows
    order = sorted(range(len(rows)), key=lambda at: int(ranks[at]))
    return [rows[at] for at in order]


def _content(file: Path) -> tuple[str, bytes]:
    if file.stat().st_size > MAX_BYTES:
        raise _bad_file(file.name, f"is larger than {MAX_BYTES} bytes")
    if not zipfile.is_zipfile(file):
        return file.name, file.read_bytes()
    try:
        return _member(file)
    except ZIP_ERRORS as error:
        raise _bad_file(file.name, f"is a zip that cannot be read: {error}") from None


def _member(file: Path) -> tuple[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        members = [one for one in archive.infolist() if one.filename.lower().endswith(".csv")]
        if len(members) != 1:
            raise _bad_file(file.name, "does not hold one CSV file")
        if members[0].file_size > MAX_BYTES:
            raise _bad_file(file.name, f"unpacks to more than {MAX_BYTES} bytes")
        return members[0].filename, archive.read(members[0])


def _without_score(header: list[str]) -> str:
    """What a file without scores has, so that another separator or a typo is seen."""
    if not header:
        return "has no column Score: it is empty"
    shown = ", ".join(quoted(cell) for cell in header[:SHOWN_COLUMNS])
    more = f" and {len(header) - SHOWN_COLUMNS} more" if len(header) > SHOWN_COLUMNS else ""
    return f"has no column Score: its columns, separated by commas, are {shown}{more}"


def _bad_file(name: str, message: str) -> BadCompetition:
    return BadCompetition([problem(name or FILE, "", message)])
