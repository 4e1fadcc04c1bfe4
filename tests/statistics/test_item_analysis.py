"""The item table on cases worked by hand, and its correlation against SciPy."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import pearsonr
from statsmodels.stats.multitest import multipletests

from app.statistics.attempts import Grid, make_grid
from app.statistics.item_analysis import item_table
from app.statistics.rasch import fit_rasch, slopes
from tests.statistics.make import attempt, random_attempts


def four_agents(slugs: list[str]) -> list[Grid]:
    won = ({"odd"}, {"easy", "a", "odd"}, {"easy", "a", "b"}, {"easy", "a", "b", "c"})
    return [
        make_grid([attempt(s, 0, "gold" if s in mine else None) for s in slugs], slugs)
        for mine in won
    ]


def test_few_experiments_invert_nothing() -> None:
    found = item_table(four_agents(["easy", "a", "b", "c", "odd"])).items
    assert found[4].discrimination < -0.7
    assert [item.verdict for item in found] == [None] * 5
    low, high = found[4].discrimination95
    r = found[4].discrimination
    assert (low, high) == pytest.approx(  # Fisher's z, with n - 3 = 1
        (math.tanh(math.atanh(r) - 1.959964), math.tanh(math.atanh(r) + 1.959964)), abs=1e-6
    )


@pytest.mark.simulation
@pytest.mark.parametrize("experiments", [2, 3, 5, 10])
def test_sound_competitions_are_hardly_ever_called_inverted(experiments: int) -> None:
    """Rasch items, none of them inverted: before, 12 of 75 were called so with 3 experiments."""
    draw = np.random.default_rng(7)
    slugs = [f"c{n:02}" for n in range(75)]
    called = 0
    for _ in range(20):
        skill, ease = draw.normal(size=experiments), draw.normal(size=75)
        won = draw.random((experiments, 3, 75)) < 1 / (1 + np.exp(-skill[:, None, None] - ease))
        grids = [
            make_grid(
                [attempt(slugs[c], seed, "gold" if won[e, seed, c] else None)
                 for seed in range(3) for c in range(75)], slugs,
            )
            for e in range(experiments)
        ]  # fmt: skip
        called += sum(item.verdict == "inverted" for item in item_table(grids).items)
    assert called <= 1  # of 1,500


def test_dead_and_inverted_competitions_are_found() -> None:
    # the better the agent (a: 0, 1, 2 of the three others), the worse at "odd"
    slugs = ["dead", "easy", "a", "b", "c", "odd"]
    grids = four_agents(slugs) * 5
    found = {item.competition: item for item in item_table(grids).items}

    assert found["dead"].verdict == "nobody"
    assert found["dead"].discrimination is None
    assert found["odd"].verdict == "inverted"
    assert found["a"].verdict is None
    assert found["a"].rate == 75.0
    here, rest = [0, 1, 1, 1] * 5, [1 / 5, 2 / 5, 2 / 5, 3 / 5] * 5
    assert found["a"].discrimination == pytest.approx(pearsonr(here, rest).statistic)


def test_inverted_competitions_are_corrected_for_their_number() -> None:
    """Benjamini and Hochberg's correction, against statsmodels; slopes alone would name more."""
    draw = np.random.default_rng(37)
    skill, ease = draw.normal(0, 1.5, 12), draw.normal(0, 1, 30)
    sign = np.where(np.arange(30) < 6, -0.6, 1.0)
    chances = 1 / (1 + np.exp(-(skill[:, None] * sign + ease)))
    won = draw.random((12, 4, 30)) < chances[:, None]
    slugs = [f"c{n:02}" for n in range(30)]
    grids = [
        make_grid(
            [attempt(slug, seed, "gold" if run[at] else None)
             for seed, run in enumerate(each) for at, slug in enumerate(slugs)], slugs,
        )
        for each in won
    ]  # fmt: skip
    tried = np.full((12, 30), 4.0)
    lines = slopes(won.sum(axis=1).astype(float), tried, fit_rasch(won.sum(axis=1), tried))
    known = ~np.isnan(lines.below_zero)
    small = np.zeros(30, dtype=bool)
    small[known] = multipletests(lines.below_zero[known], 0.05, "fdr_bh")[0]

    found = [item.verdict == "inverted" for item in item_table(grids).items]

    assert found == (small & (lines.high < 0)).tolist()
    assert 0 < sum(found) < (lines.high < 0).sum()


def test_one_experiment_has_difficulties_and_no_discrimination() -> None:
    found = item_table([make_grid([attempt("a", 0, "gold"), attempt("b", 0)], "ab")]).items
    assert [one.verdict for one in found] == ["everybody", "nobody"]
    for one in found:
        assert one.slope is one.slope_error is one.slope95 is one.discrimination is None
    assert found[0].difficulty < found[1].difficulty


def test_everybody_and_flips() -> None:
    grid = make_grid(
        [attempt("a", 0, "gold"), attempt("a", 1, "gold"), attempt("b", 0, "gold"),
         attempt("b", 1)], "ab",
    )  # fmt: skip
    first, second = item_table([grid, grid]).items
    assert (first.verdict, first.flips, first.attempts) == ("everybody", 0.0, 4)
    assert (second.verdict, second.flips, second.rate) == (None, 100.0, 50.0)


def test_other_competitions_are_refused_and_nothing_is_nothing() -> None:
    grids = [make_grid([attempt(s, 0)], s) for s in "ab"]
    with pytest.raises(ValueError, match="same competitions"):
        item_table(grids)
    assert item_table([]).items == []


def test_one_competition_discriminates_nothing() -> None:
    attempts = random_attempts(1, 3, random.Random(0))
    assert item_table([make_grid(attempts, ["c000"])] * 3).items[0].discrimination is None


def test_a_correlation_of_one_or_minus_one_has_no_interval() -> None:
    def grids(*won: tuple[str | None, str | None]) -> list[Grid]:
        results = [[attempt("a", 0, x), attempt("b", 0, y)] for x, y in won]
        return [make_grid(found, ["a", "b"]) for found in results]

    both, neither, one, other = ("gold",) * 2, (None,) * 2, ("gold", None), (None, "gold")
    for won, sign in (([both, both, neither, neither], 1), ([one, one, other, other], -1)):
        for item in item_table(grids(*won)).items:
            assert item.discrimination == pytest.approx(sign)
            assert item.discrimination95 is None
