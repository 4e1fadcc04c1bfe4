"""The scores that a picture of a leaderboard shows, and the positions of the names of its lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

BETTER = 0.9  # the part of the drawn places that is always shown
APART = 13.0  # pixels between two names of lines
JOINED = 4.0  # pixels between lines that have one name
FARTHEST = 1e300  # beyond it, differences of scores overflow, here and in the renderer
CLOSEST = 1e-280  # to zero: the renderer makes nothing of an axis whose steps are below 1e-307

Rows = Sequence[Mapping[str, Any]]


def drawable(rows: Rows) -> list[dict[str, Any]]:
    """The rows, with scores that are zero, or from `CLOSEST` to `FARTHEST` from it.

    >>> drawable([{"score": -1.7e308}, {"score": 0.5}, {"score": 5e-324}])
    [{'score': -1e+300}, {'score': 0.5}, {'score': 0.0}]
    """
    return [
        {**row, "score": max(-FARTHEST, min(FARTHEST, row["score"]))}
        if abs(row["score"]) >= CLOSEST
        else {**row, "score": 0.0}
        for row in rows
    ]


def score_range(board: Rows, lines: Rows, attempts: Rows) -> tuple[float, float] | None:
    """The lowest and the highest score that is drawn; None if there is no board.

    The better 90 % of the drawn places and all lines are always in the range. Other scores, of
    teams and of attempts, widen it if they are at most as far from these as these are from each
    other. One score of 1e9 must not compress all others into a line.

    >>> board = [{"score": score} for score in (0.1, 0.2, 0.3)]
    >>> score_range(board, [], [{"score": 0.4}, {"score": 1e9}])
    (0.1, 0.4)
    >>> score_range([], [], [{"score": 0.4}]) is None
    True
    """
    shown = [row["score"] for row in [*board[: math.ceil(BETTER * len(board))], *lines]]
    if not shown:
        return None
    low, high = min(shown), max(shown)
    reach = (high - low) or abs(high) or 1.0
    near = [
        row["score"]
        for row in [*board, *attempts]
        if low - reach <= row["score"] <= high + reach
    ]  # fmt: skip
    return min([low, *near]), max([high, *near])


def beyond(score: float, limits: tuple[float, float] | None) -> str | None:
    """Whether a score is above or below what is drawn; None if it is drawn."""
    if limits is None or limits[0] <= score <= limits[1]:
        return None
    return "above" if score > limits[1] else "below"


def names_apart(lines: Rows, domain: tuple[float, float], height: float) -> list[dict[str, Any]]:
    """The names of lines, with heights in scores at which they do not overlap.

    Lines that are less than `JOINED` apart have one name. The others keep their order and are at
    least `APART` from each other, in a drawing `height` pixels high that shows the scores of
    `domain`.

    >>> lines = [{"line": "gold", "score": 0.0}, {"line": "silver", "score": 0.0}]
    >>> names_apart([*lines, {"line": "bronze", "score": 5.0}], (0.0, 100.0), 130.0)
    [{'name': 'gold, silver', 'score': 0.0}, {'name': 'bronze', 'score': 10.0}]
    """
    pixel = (domain[1] - domain[0]) / height
    names: dict[float, list[str]] = {}
    first = -math.inf
    for line in sorted(lines, key=lambda each: each["score"]):
        if line["score"] - first >= JOINED * pixel:
            first = line["score"]
        names.setdefault(first, []).append(line["line"])
    scores = list(names)
    step = APART * pixel
    at: list[float] = []
    for score in scores:
        at.append(max(score, at[-1] + step) if at else score)
    top = domain[1] - step
    for number in reversed(range(len(at))):  # positions pushed out of the drawing come back
        at[number] = min(at[number], top)
        top = at[number] - step
    return [
        {"name": ", ".join(names[score]), "score": place}
        for score, place in zip(scores, at, strict=True)
    ]
