"""The item table on cases worked by hand, and its correlation against SciPy."""

from __future__ import annotations

import random

import pytest
from scipy.stats import pearsonr

from app.statistics.attempts import make_grid
from app.statistics.item_analysis import item_table
from tests.statistics.make import attempt, random_attempts


def test_dead_and_inverted_competitions_are_found() -> None:
    # the better the agent (a: 0, 1, 2 of the three others), the worse at "odd"
    won = {0: {"odd"}, 1: {"easy", "a", "odd"}, 2: {"easy", "a", "b"}, 3: {"easy", "a", "b", "c"}}
    slugs = ["dead", "easy", "a", "b", "c", "odd"]
    grids = [
        make_grid([attempt(s, 0, "gold" if s in mine else None) for s in slugs], slugs)
        for mine in won.values()
    ]
    found = {item.competition: item for item in item_table(grids)}

    assert found["dead"].verdict == "nobody"
    assert found["dead"].discrimination is None
    assert found["odd"].verdict == "inverted"
    assert found["a"].verdict is None
    assert found["a"].rate == 75.0
    here, rest = [0, 1, 1, 1], [1 / 5, 2 / 5, 2 / 5, 3 / 5]
    assert found["a"].discrimination == pytest.approx(pearsonr(here, rest).statistic)


def test_everybody_and_flips() -> None:
    grid = make_grid(
        [attempt("a", 0, "gold"), attempt("a", 1, "gold"), attempt("b", 0, "gold"),
         attempt("b", 1)], "ab",
    )  # fmt: skip
    first, second = item_table([grid, grid])
    assert (first.verdict, first.flips, first.attempts) == ("everybody", 0.0, 4)
    assert (second.verdict, second.flips, second.rate) == (None, 100.0, 50.0)


def test_other_competitions_are_refused_and_nothing_is_nothing() -> None:
    grids = [make_grid([attempt(s, 0)], s) for s in "ab"]
    with pytest.raises(ValueError, match="same competitions"):
        item_table(grids)
    assert item_table([]) == []


def test_one_competition_discriminates_nothing() -> None:
    attempts = random_attempts(1, 3, random.Random(0))
    assert item_table([make_grid(attempts, ["c000"])] * 3)[0].discrimination is None
