"""The human board of a competition, from `leaderboard.csv` or the lines in competition.toml."""

from __future__ import annotations

import csv
import io
from math import isfinite

from app.domain.competition import Competition
from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.wording import first_few
from app.errors import BadCompetition

FILE = "leaderboard.csv"
SCORE = "score"
SHOWN_ROWS = 5
SHOWN_CHARACTERS = 40


def leaderboard_of(competition: Competition, csv_text: str | None) -> Leaderboard | None:
    """The competition's leaderboard; None where neither a file nor lines are given.

    Raises:
        BadCompetition: the file has no readable `score` column.
    """
    source = competition.leaderboard
    direction = competition.metric.higher_is_better
    if csv_text is not None:
        scores = read_scores(csv_text)
        if source is None:
            return Leaderboard.full(scores, higher_is_better=direction)
        return Leaderboard.full(scores, higher_is_better=direction, rule=source.rule)
    if source is None:
        return None
    return Leaderboard.from_lines(
        MedalLines(source.gold, source.silver, source.bronze, source.median),
        teams=source.teams,
        higher_is_better=direction,
        rule=source.rule,
    )


def read_scores(csv_text: str) -> list[float]:
    r"""The finite numbers of the column `score`, in the file's order; other columns are free.

    Raises:
        BadCompetition: the file is invalid; the error names the rows, counted from 1.

    >>> read_scores("rank,score\n1,0.9\n2,0.8\n")
    [0.9, 0.8]
    """
    lines = io.StringIO(csv_text.removeprefix("\ufeff"), newline="")
    try:
        rows = [row for row in csv.reader(lines, strict=True) if row]
    except csv.Error as error:
        raise _bad_leaderboard("", f"is not CSV: {error}") from None
    if not rows or rows[0].count(SCORE) != 1:
        raise _bad_leaderboard(SCORE, "the first line must name one column score")
    if len(rows) == 1:
        raise _bad_leaderboard(SCORE, "there is no row")
    column = rows[0].index(SCORE)
    scores: list[float] = []
    wrong: list[str] = []
    for number, row in enumerate(rows[1:], start=1):
        cell = row[column] if len(row) == len(rows[0]) else ",".join(row)
        try:
            # float() also accepts 1_000; NaN and infinities are rejected below.
            score = float(cell) if "_" not in cell else float("nan")
        except ValueError:
            score = float("nan")
        if isfinite(score) and len(row) == len(rows[0]):
            scores.append(score)
        else:
            wrong.append(f"row {number} ({cell[:SHOWN_CHARACTERS]!r})")
    if wrong:
        raise _bad_leaderboard(SCORE, f"not a finite score: {first_few(wrong, SHOWN_ROWS)}")
    return scores


def _bad_leaderboard(key: str, message: str) -> BadCompetition:
    return BadCompetition([{"file": FILE, "key": key, "message": message}])
