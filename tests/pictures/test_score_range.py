"""Scores far away from the others, in a picture of a leaderboard."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from app.pictures.charts import chart
from app.pictures.leaderboard_chart import HEIGHT
from app.pictures.picture import Picture
from app.pictures.program import render
from app.pictures.score_range import APART, beyond, names_apart, score_range

BOARD = [{"place": place, "score": 0.1 + 0.01 * place} for place in range(1, 21)]
LINES = [{"line": "gold", "score": 0.11}, {"line": "median", "score": 0.2}]


def attempt(score: float) -> dict[str, Any]:
    return {"experiment": "an agent", "place": 21, "score": score}


def drawn(attempts: list[dict[str, Any]]) -> dict[str, Any]:
    values = {"metric": "m", "board": BOARD, "medal_lines": LINES, "attempts": attempts}
    return chart("leaderboard", Picture("leaderboard", "t", "c", values).data).to_dict()


@pytest.mark.parametrize("far", [1e9, -1e9])
def test_one_attempt_far_away_does_not_change_the_axis(far: float) -> None:
    alone, both = drawn([attempt(0.25)]), drawn([attempt(0.25), attempt(far)])

    def axis(made: dict[str, Any]) -> Any:
        return made["layer"][0]["encoding"]["y"]["scale"]["domain"]

    assert axis(both) == axis(alone)
    low, high = axis(both)
    assert 0 < low < 0.11 < 0.3 < high < 0.4
    rows = [row for rows in both["datasets"].values() for row in rows if row.get("score") == far]
    assert {row["beyond"] for row in rows} == {"above" if far > 0 else "below"}
    assert all(low < row["drawn"] < high for row in rows)


def test_an_attempt_a_little_better_than_all_humans_is_drawn_where_it_is() -> None:
    limits = score_range(BOARD, LINES, [attempt(0.05)])

    assert limits is not None
    assert limits[0] == 0.05
    assert beyond(0.05, limits) is None


def test_a_team_far_away_does_not_flatten_the_board() -> None:
    board = [*BOARD, {"place": 21, "score": 1e12}]

    limits = score_range(board, LINES, [])

    assert limits == (0.11, pytest.approx(0.3))
    assert beyond(1e12, limits) == "above"


@pytest.mark.parametrize("score", [0.0, -3.0, 7.0])
def test_a_board_of_one_score_has_an_axis(score: float) -> None:
    limits = score_range([{"place": 1, "score": score}], [], [attempt(score + 0.5)])

    assert limits == (score, score + 0.5)
    assert drawn([attempt(score)])["layer"]


@pytest.mark.parametrize(
    "scores", [(0.1, 0.2, 0.21, 0.22), (0.96, 0.97, 0.98, 1.0), (0.0, 0.05, 0.06, 0.07)]
)
def test_names_of_lines_keep_apart_and_in_the_drawing(scores: tuple[float, ...]) -> None:
    words = ("gold", "silver", "bronze", "median")
    lines = [{"line": name, "score": at} for name, at in zip(words, scores, strict=True)]

    names = names_apart(lines, (0.0, 1.0), HEIGHT)

    heights = [name["score"] * HEIGHT for name in names]
    assert all(b - a >= APART - 1e-6 for a, b in itertools.pairwise(heights))
    assert all(0 <= height <= HEIGHT - APART + 1e-6 for height in heights)
    assert sorted(", ".join(name["name"] for name in names).split(", ")) == sorted(words)


@pytest.mark.parametrize("extreme", [0.25, 5e-324, 1.75e308])
@pytest.mark.parametrize(
    "board",
    [
        [-1.7e308, 1.7e308], [0.1, 1.7e308], [1.6e308, 1.7e308], [-1e-323, -5e-324],
        [2.3e-308, 2.4e-308], [0.0, 5e-324], [1e-280, 1.0000000000000002e-280], [0.0, 0.0],
    ],
)  # fmt: skip
def test_a_board_of_extreme_scores_is_drawn(board: list[float], extreme: float) -> None:
    values = {
        "metric": "m",
        "board": [{"place": place, "score": score} for place, score in enumerate(board, 1)],
        "medal_lines": [{"line": "gold", "score": board[0]}, {"line": "median", "score": board[1]}],
        "attempts": [attempt(extreme)],
    }
    picture = Picture("leaderboard", "t", "c", values)
    drawing = render("leaderboard", "svg", picture.data)
    assert b"NaN" not in drawing
    assert b"Infinity" not in drawing
    assert b"gold" in drawing  # it is not empty, as without an axis
