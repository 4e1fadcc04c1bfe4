"""Leaderboard lint: problems of a human board that would mislead a reader of its medals.

A board with an error cannot be used; a warning is shown with the board. Podium's authors chose the
thresholds, and tried them on the 82 boards of MLE-bench.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import isfinite
from typing import Literal

from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.medals import Medal, MedalRule, medal_places
from app.domain.wording import counted, first_few

RULES_DIFFER_BELOW = 10  # teams; see medal_places
SMALL_BOARD = 30  # teams; in a smaller board, one team more or less moves a medal line visibly
SHARED_WORST_PER_CENT = 10
FAR_AWAY = 10  # times the spread of all other scores


class LintCode(StrEnum):
    """The problems that the lint finds."""

    NON_FINITE = "non_finite"
    DIRECTION = "direction"
    UNSORTED = "unsorted"
    SENTINEL_SCORES = "sentinel_scores"
    SHARED_WORST_SCORE = "shared_worst_score"
    TIES_AT_CUT = "ties_at_cut"
    BRONZE_EQUALS_MEDIAN = "bronze_equals_median"
    MEDAL_LINES_EQUAL = "medal_lines_equal"
    FEW_TEAMS = "few_teams"
    TEAMS_MISSING = "teams_missing"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A problem of a leaderboard that its readers should know."""

    code: LintCode
    severity: Literal["error", "warning"]
    message: str

    def as_dict(self) -> dict[str, str]:
        """The finding as JSON has it."""
        return {"code": self.code.value, "severity": self.severity, "message": self.message}


def lint_leaderboard(
    scores: Sequence[float], *, higher_is_better: bool, rule: MedalRule = MedalRule.MLE_BENCH
) -> list[LintFinding]:
    """The problems of a full board, given its scores in the order of the file.

    After an error nothing else is checked: medal lines of an unusable board mean nothing.

    Raises:
        ValueError: there is no score.

    >>> print(lint_leaderboard([0.5, 0.7, 0.9], higher_is_better=True)[0].message)
    the rows run from 0.5 to 0.9, worst first, though higher is better for this metric: either \
the metric's direction or the order of the file is wrong
    """
    if not scores:
        raise ValueError("a leaderboard has at least one score")
    odd = [row for row, score in enumerate(scores, start=1) if not isfinite(score)]
    if odd:
        rows = first_few([str(row) for row in odd], 1)
        first = f"row {rows}: {scores[odd[0] - 1]!r} is not a finite score"
        return [_error(LintCode.NON_FINITE, first)]
    steps = [b - a if higher_is_better else a - b for a, b in pairwise(scores)]
    wrong = sum(step > 0 for step in steps)
    right = sum(step < 0 for step in steps)
    if wrong and wrong >= 9 * right:
        return [_error(LintCode.DIRECTION, _direction_message(scores, higher_is_better))]
    findings = []
    if wrong:
        row = 2 + next(i for i, step in enumerate(steps) if step > 0)
        times = "1 row is" if wrong == 1 else f"{wrong} rows are"
        findings.append(
            _warning(
                LintCode.UNSORTED,
                f"{times} better than the row before, the first of them row {row} "
                f"({scores[row - 2]!r}, then {scores[row - 1]!r}): a leaderboard is written best "
                "first; places were counted from the sorted scores",
            )
        )
    board = Leaderboard.full(scores, higher_is_better=higher_is_better, rule=rule)
    findings += _worst_scores(board)
    findings += _ties_at_cuts(board)
    return findings + _lines(board)


def lint_lines(
    lines: MedalLines,
    *,
    teams: int | None,
    higher_is_better: bool,
    rule: MedalRule = MedalRule.MLE_BENCH,
) -> list[LintFinding]:
    """The problems of a board of which only the medal lines are known.

    >>> lines = MedalLines(0.9, 0.9, 0.8, 0.85)
    >>> [f.code.value for f in lint_lines(lines, teams=None, higher_is_better=True)]
    ['direction']
    """
    board = Leaderboard.from_lines(lines, teams=teams, higher_is_better=higher_is_better, rule=rule)
    known = _known_lines(lines, ("gold", "silver", "bronze", "median"))
    for (better, a), (worse, b) in pairwise(known):
        if not board.reaches(a, b):
            way = "higher" if higher_is_better else "lower"
            return [
                _error(
                    LintCode.DIRECTION,
                    f"{better} = {a!r} is worse than {worse} = {b!r}, though {way} is better "
                    "for this metric",
                )
            ]
    return _lines(board)


def _worst_scores(board: Leaderboard) -> list[LintFinding]:
    scores = board.scores or ()
    worst = scores[-1]
    others = [score for score in scores if score != worst]
    if not others:
        return []
    count, teams = len(scores) - len(others), len(scores)
    has = "team has" if count == 1 else "teams have"
    sharing = f"{count} {has} the worst score, {worst!r}"
    spread, gap = max(others) - min(others), abs(others[-1] - worst)
    is_far = count > 1 and spread > 0 and gap > FAR_AWAY * spread
    if is_far or _is_placeholder(worst, others):
        return [
            _warning(
                LintCode.SENTINEL_SCORES,
                f"{sharing}; it looks like a mark for 'no score' (the next is {others[-1]!r}). "
                f"The medal places were counted over all {teams} teams: if these were never "
                "scored, take their rows out and say so in README.md",
            )
        ]
    if count > 1 and 100 * count >= SHARED_WORST_PER_CENT * teams:
        return [
            _warning(
                LintCode.SHARED_WORST_SCORE,
                f"{sharing}, {100 * count / teams:.0f} % of the {teams}: often submissions "
                "that failed. They count as teams, which eases the median and may ease the medals",
            )
        ]
    return []


def _is_placeholder(score: float, others: Sequence[float]) -> bool:
    if score == -1.0:
        return min(others) >= 0.0
    if score != int(score):
        return False
    digits = str(abs(int(score)))
    is_nines = len(digits) >= 4 and set(digits) == {"9"}
    is_power_of_ten = len(digits) >= 7 and digits.strip("0") == "1"
    return is_nines or is_power_of_ten or abs(score) >= 1e300


def _ties_at_cuts(board: Leaderboard) -> list[LintFinding]:
    scores = board.scores or ()
    places = medal_places(len(scores), board.rule)
    parts = []
    for medal in Medal:
        place = getattr(places, medal)
        winners = sum(board.reaches(score, getattr(board.lines, medal)) for score in scores)
        if winners > place:
            parts.append(f"{winners} instead of {place} reach {medal}")
    if not parts:
        return []
    return [
        _warning(
            LintCode.TIES_AT_CUT,
            f"teams tie at a cut: {', '.join(parts)}. Each of them has the medal here; Kaggle "
            "decides ties by time",
        )
    ]


def _lines(board: Leaderboard) -> list[LintFinding]:
    lines, findings = board.lines, []
    if lines.bronze is not None and lines.bronze == lines.median:
        findings.append(
            _warning(
                LintCode.BRONZE_EQUALS_MEDIAN,
                f"the bronze line is the median, {lines.median!r}: a score can win bronze "
                "without being above the median, and bronze says little",
            )
        )
    known = _known_lines(lines, ("gold", "silver", "bronze"))
    same = [f"{a} = {b}" for (a, x), (b, y) in pairwise(known) if x == y]
    if same:
        findings.append(
            _warning(
                LintCode.MEDAL_LINES_EQUAL,
                f"medal lines are equal ({', '.join(same)}): whoever reaches one wins the better "
                "medal, so the lesser can never be won",
            )
        )
    if board.teams is None:
        if known:
            findings.append(_warning(LintCode.TEAMS_MISSING, "the number of teams is not known"))
    elif board.teams < RULES_DIFFER_BELOW:
        findings.append(_warning(LintCode.FEW_TEAMS, _rules_differ_message(board.teams)))
    elif board.teams < SMALL_BOARD:
        few = counted(board.teams, "team")
        message = f"only {few}: one team more or less moves the medal lines"
        findings.append(_warning(LintCode.FEW_TEAMS, message))
    return findings


def _known_lines(lines: MedalLines, names: tuple[str, ...]) -> list[tuple[str, float]]:
    found = ((name, getattr(lines, name)) for name in names)
    return [(name, line) for name, line in found if line is not None]


def _rules_differ_message(teams: int) -> str:
    kaggle = medal_places(teams, MedalRule.KAGGLE)
    none = [medal.value for medal in Medal if not getattr(kaggle, medal)]
    return (
        f"only {counted(teams, 'team')}: Kaggle's rule gives no {' and no '.join(none)} "
        "here, MLE-bench's gives the first place each of them"
    )


def _direction_message(scores: Sequence[float], higher_is_better: bool) -> str:
    way = "higher" if higher_is_better else "lower"
    return (
        f"the rows run from {scores[0]!r} to {scores[-1]!r}, worst first, though {way} is better "
        "for this metric: either the metric's direction or the order of the file is wrong"
    )


def _error(code: LintCode, message: str) -> LintFinding:
    return LintFinding(code, "error", message)


def _warning(code: LintCode, message: str) -> LintFinding:
    return LintFinding(code, "warning", message)
