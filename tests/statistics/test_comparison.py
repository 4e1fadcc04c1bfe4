"""Paired comparisons against SciPy and statsmodels."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.descriptivestats import sign_test as independent_sign_test
from statsmodels.stats.power import TTestPower

from app.domain.result_choices import RATES, Padding
from app.statistics.attempts import Grid, make_grid
from app.statistics.comparison import compare, difference_over_runs
from app.statistics.intervals import over_runs
from app.statistics.simultaneous import compare_all
from tests.statistics.make import attempt, random_attempts


def two(competitions: int = 40, seeds: int = 4) -> tuple[Grid, Grid]:
    chance = random.Random(11)
    grids = []
    for name in ("one", "two"):
        attempts = random_attempts(competitions, seeds, chance, name)
        grids.append(make_grid(attempts, {each.competition for each in attempts}))
    return grids[0], grids[1]


def test_difference_interval_and_p_are_those_of_the_paired_t_test() -> None:
    a, b = two()
    found = compare(a, b)
    mine, theirs = (100 * grid.outcomes[:, :, 0].mean(axis=0) for grid in (a, b))
    test = stats.ttest_rel(mine, theirs)

    assert found.difference == pytest.approx(np.mean(mine - theirs))
    assert found.p == pytest.approx(test.pvalue)
    assert found.ci95 == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert found.a_mean - found.b_mean == pytest.approx(found.difference)


@pytest.mark.parametrize("ours", [[1] * 9 + [0] * 7, [1] * 13 + [2, 0, 0]])
@pytest.mark.parametrize("theirs", [[0] * 16, [3] * 3 + [0] * 13, [3] * 5 + [0] * 11])
def test_the_difference_is_that_of_the_rates_to_the_last_bit(
    ours: list[int], theirs: list[int]
) -> None:
    """18.7 points were reported between 18.8 and 0.0 %."""
    slugs = [f"c{n:02}" for n in range(16)]
    a, b = (
        make_grid(
            [attempt(slug, seed, "gold" if seed < won else None)
             for slug, won in zip(slugs, each, strict=True) for seed in range(3)], slugs,
        )
        for each in (ours, theirs)
    )  # fmt: skip
    expected = round(100 * (sum(ours) - sum(theirs)) / 48, 12)
    assert compare(a, b).difference == expected
    assert abs(compare_all("ab", [a, b]).pairs[0].difference) == abs(expected)


def test_equal_rates_of_other_shares_have_no_difference() -> None:
    """Sums of rounded sixths differ, and a sentence said that one is ahead by 0.0 points."""
    slugs = [f"c{n}" for n in range(8)]
    a, b = (
        make_grid(
            [attempt(slug, seed, "gold" if seed < won else None)
             for slug, won in zip(slugs, each, strict=True) for seed in range(6)], slugs,
        )
        for each in ([4, 2, 4, 4, 1, 4, 5, 4], [6, 0, 6, 1, 4, 1, 6, 4])
    )  # fmt: skip

    assert compare(a, b).difference == 0.0
    assert compare_all("ab", [a, b]).pairs[0].difference == 0.0


def test_the_interval_over_runs_is_newcombes_of_the_intervals_of_both() -> None:
    grids = two(6, 3)
    (low, high), (least, most) = (
        over_runs(grid.shares[:, [0]], grid.attempts).interval[:, 0] for grid in grids
    )
    first, second = (grid.shares[:, 0].mean() for grid in grids)
    assert first != second
    down = np.sqrt((first - low) ** 2 + (most - second) ** 2)
    up = np.sqrt((high - first) ** 2 + (second - least) ** 2)
    expected = (100 * (first - second - down), 100 * (first - second + up))
    assert difference_over_runs(*grids, 0) == pytest.approx(expected)


def test_the_sign_test() -> None:
    a, b = two()
    found = compare(a, b).sign_test
    differences = a.outcomes[:, :, 0].mean(axis=0) - b.outcomes[:, :, 0].mean(axis=0)
    _, p = independent_sign_test(differences)
    assert found.p == pytest.approx(p)
    assert found.a_ahead + found.b_ahead + found.tied == 40
    assert found.a_ahead == int((differences > 0).sum())


def test_the_detectable_difference_is_that_of_a_power_analysis() -> None:
    a, b = two()
    found = compare(a, b)
    deviation = found.sem * np.sqrt(40)
    effect = TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8)
    assert found.detectable == pytest.approx(effect * deviation, rel=1e-4)


@pytest.mark.parametrize(("competitions", "seeds"), [(28, 1), (26, 2), (37, 4)])
def test_exchanging_them_mirrors_the_bootstrap(competitions: int, seeds: int) -> None:
    a, b = two(competitions, seeds)
    there, back = compare(a, b).bootstrap95, compare(b, a).bootstrap95
    assert there is not None
    assert back == (-there[1], -there[0])


def test_exchanging_them_changes_signs_only() -> None:
    a, b = two()
    there, back = compare(a, b), compare(b, a)
    assert back.difference == pytest.approx(-there.difference)
    assert back.ci95 == pytest.approx((-there.ci95[1], -there.ci95[0]))
    assert (back.p, back.sign_test.p) == pytest.approx((there.p, there.sign_test.p))


def test_equal_experiments_differ_by_nothing() -> None:
    a, _ = two()
    found = compare(a, a)
    assert (found.difference, found.sem, found.p, found.detectable) == (0.0, 0.0, None, None)
    assert found.ci95 is found.bootstrap95 is None


def test_all_against_nothing_shows_no_spread_and_claims_none() -> None:
    slugs = [f"c{n}" for n in range(9)]
    best = make_grid([attempt(s, n, "gold") for s in slugs for n in range(3)], slugs)
    worst = make_grid([attempt(s, n) for s in slugs for n in range(3)], slugs)
    found = compare(best, worst)
    assert (found.difference, found.sign_test.p) == (100.0, pytest.approx(2 / 2**9))
    assert found.ci95 is found.bootstrap95 is found.p is found.detectable is None


@pytest.mark.parametrize("seeds", [3, 6, 7])
@pytest.mark.parametrize("competitions", range(2, 76))
def test_equal_differences_claim_nothing(competitions: int, seeds: int) -> None:
    slugs = [f"c{n}" for n in range(competitions)]
    more, less = (
        make_grid(
            [
                attempt(s, n, "gold") if n < won else attempt(s, n)
                for s in slugs
                for n in range(seeds)
            ],
            slugs,
        )
        for won in (2, 1)
    )
    found = compare(more, less)

    assert found.difference == pytest.approx(100 / seeds)
    assert found.sem == 0.0
    assert found.ci95 is found.bootstrap95 is found.p is found.detectable is None


def test_equal_experiments_are_tied() -> None:
    a, _ = two()
    found = compare(a, a)
    assert (found.sign_test.tied, found.sign_test.p) == (40, 1.0)


def test_one_competition_has_no_interval() -> None:
    a = make_grid([attempt("a", 0, "gold")], "a")
    b = make_grid([attempt("a", 0)], "a")
    found = compare(a, b)
    assert found.difference == 100.0
    assert found.sem is found.ci95 is found.bootstrap95 is found.p is found.detectable is None


def test_other_competitions_are_refused() -> None:
    with pytest.raises(ValueError, match="same competitions"):
        compare(make_grid([attempt("a", 0)], "a"), make_grid([attempt("b", 0)], "b"))


@pytest.mark.simulation
@pytest.mark.parametrize(("competitions", "runs"), [(22, [2]), (75, [3]), (15, [3]), (22, [2, 8])])
@pytest.mark.parametrize("rate", [0.03, 0.44, 0.9])
def test_the_interval_over_runs_covers_93_percent_and_more(
    competitions: int, runs: list[int], rate: float
) -> None:
    draw = np.random.default_rng(6)
    attempts = np.resize(runs, competitions)
    covered, many, at = 0, 400, RATES.index("any_medal")
    slugs = [f"c{n:02}" for n in range(competitions)]
    for _ in range(many):
        chances = draw.beta(rate, 1 - rate, competitions)
        # The other agent wins less often where it can.
        grids = []
        for chance in (chances, chances * 0.8):
            won = [draw.random(n) < p for n, p in zip(attempts, chance, strict=True)]
            grids.append(
                make_grid(
                    [attempt(slug, seed, "gold" if one else None)
                     for slug, each in zip(slugs, won, strict=True)
                     for seed, one in enumerate(each)],
                    slugs, padding=Padding.AVAILABLE,
                )
            )  # fmt: skip
        low, high = difference_over_runs(grids[0], grids[1], at)
        covered += low <= 20 * chances.mean() <= high
        assert -100 <= low < high <= 100
    assert covered >= 0.92 * many  # the simulation's own standard error is 1.1 points


def test_intervals_of_differences_stay_within_the_possible_range() -> None:
    won = [attempt(slug, seed, "gold") for slug in "abcd" for seed in range(3)]
    lost = [attempt(slug, seed, "gold" if slug + str(seed) == "a0" else None)
            for slug in "abcd" for seed in range(3)]  # fmt: skip
    found = compare(make_grid(won, "abcd"), make_grid(lost, "abcd"))
    assert found.ci95 == found.competitions95
    assert found.ci95[1] == 100.0
    assert found.runs95[0] < found.difference < found.runs95[1] <= 100.0
    single = [one for one in won if one.seed == 0]
    assert compare(make_grid(single, "abcd"), make_grid(lost, "abcd")).runs95 is None
