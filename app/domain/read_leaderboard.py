"""The human board of a competition, from `leaderboard.csv` or the lines in competition.toml."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from math import isfinite

from app.domain.competition import Competition
from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.wording import first_few
from app.errors import BadCompetition

FILE = "leaderboard.csv"
SCORE = "score"
MOST_ROWS = 1_000_000  # the largest boards of Kaggle have fewer than 20,000
LONGEST_LINE = 10_000  # characters; each cell of a row takes forty times its bytes
LINE = re.compile(r"[^\r\n]+")
MANY_TEAMS = 100
LEAST_OF_MANY, LEAST_SURE, MOST_DECIMALS = 2, 4, 9
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
        texts = read_score_texts(csv_text)
        scores = [float(text) for text in texts]
        decimals = decimals_of(texts)
        if source is None:
            return Leaderboard.full(scores, higher_is_better=direction, decimals=decimals)
        declared = source.decimals
        return Leaderboard.full(
            scores,
            higher_is_better=direction,
            rule=source.rule,
            decimals=decimals if declared is None else declared,
        )
    if source is None:
        return None
    return Leaderboard.from_lines(
        MedalLines(source.gold, source.silver, source.bronze, source.median),
        teams=source.teams,
        higher_is_better=direction,
        rule=source.rule,
        decimals=source.decimals,
    )


def decimals_of(texts: Sequence[str]) -> int | None:
    """The decimals to which a board's scores were rounded; None if that is unknown.

    Kaggle exports a board with a fixed number of decimals; some programs drop trailing zeros. So it
    is the largest number of decimals, if at least half of the scores have it. It must be 2 to 9:
    more are not rounded, and few digits are common among scores written by hand. Two or three
    decimals count only on a board of at least 100 teams.

    >>> decimals_of(["1.0000", "0.9998", "0.9000"]), decimals_of(["0.9", "0.8"])
    (4, None)
    """
    digits = [_decimals(text) for text in texts]
    known = [count for count in digits if count is not None]
    if not known or len(known) < len(digits):
        return None
    most = max(known)
    least = LEAST_SURE if len(texts) < MANY_TEAMS else LEAST_OF_MANY
    if not least <= most <= MOST_DECIMALS or 2 * known.count(most) < len(known):
        return None
    return most


def _decimals(text: str) -> int | None:
    number = text.strip().lstrip("+-")
    before, _, after = number.partition(".")
    return len(after) if (before + after).isdigit() else None


def read_score_texts(csv_text: str) -> list[str]:
    r"""The cells of the column `score`, each a finite number, in the file's order.

    Other columns are free.

    Raises:
        BadCompetition: the file is invalid; the error names the rows, counted from 1.

    >>> read_score_texts("rank,score\n1,0.90\n2,0.8\n")
    ['0.90', '0.8']
    """
    # Counted before they are read: a row takes fifty times its bytes.
    if csv_text.count("\n") + csv_text.count("\r") > 2 * (MOST_ROWS + 1):
        raise _bad_leaderboard("", f"has more than {MOST_ROWS} rows")
    # Each line is read once. A search for one that is too long would read a shorter one again from
    # each of its characters, for minutes in all, and let no other thread work meanwhile.
    if any(
        end - start > LONGEST_LINE for start, end in map(re.Match.span, LINE.finditer(csv_text))
    ):
        raise _bad_leaderboard("", f"has a line of more than {LONGEST_LINE} characters")
    lines = io.StringIO(csv_text.removeprefix("\ufeff"), newline="")
    rows = (row for row in csv.reader(lines, strict=True) if row)
    try:
        return _scores_of(next(rows, []), rows)
    except csv.Error as error:
        raise _bad_leaderboard("", f"is not CSV: {error}") from None


def _scores_of(header: list[str], rows: Iterator[list[str]]) -> list[str]:
    """The scores of the rows below the first one. One row is in memory at a time."""
    if header.count(SCORE) != 1:
        alike = [name for name in header if name.strip().lower() == SCORE]
        hint = f" (there is {alike[0]!r}: names must agree in case and spaces)" if alike else ""
        hint = "" if SCORE in alike else hint
        raise _bad_leaderboard(SCORE, f"the first line must name one column {SCORE}{hint}")
    column = header.index(SCORE)
    scores: list[str] = []
    wrong: list[str] = []
    for number, row in enumerate(rows, start=1):
        cell = row[column] if len(row) == len(header) else ",".join(row)
        try:
            # float() also accepts 1_000 and digits of other scripts; NaN and infinities are
            # rejected below.
            score = float(cell) if cell.isascii() and "_" not in cell else float("nan")
        except ValueError:
            score = float("nan")
        if isfinite(score) and len(row) == len(header):
            scores.append(cell)
        else:
            wrong.append(f"row {number} ({cell[:SHOWN_CHARACTERS]!r})")
    if wrong:
        raise _bad_leaderboard(SCORE, f"not a finite score: {first_few(wrong, SHOWN_ROWS)}")
    if not scores:
        raise _bad_leaderboard(SCORE, "there is no row")
    return scores


def _bad_leaderboard(key: str, message: str) -> BadCompetition:
    return BadCompetition([{"file": FILE, "key": key, "message": message}])
