"""Plans against statsmodels, SciPy, hand-worked spreads and simulated tests."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from app.errors import Invalid
from app.statistics.attempts import make_grid
from app.statistics.planning import Spread, plan, spread_of
from tests.statistics.make import attempt


def grid(shares: dict[str, list[bool]]):
    return make_grid(
        [attempt(slug, seed, "gold" if won else None)
         for slug, row in shares.items() for seed, won in enumerate(row)],
        shares,
    )  # fmt: skip


@pytest.mark.parametrize(("count", "seeds"), [(75, 3), (22, 1), (15, 16), (2, 2)])
def test_the_difference_for_competitions_like_these_is_that_of_statsmodels(count, seeds) -> None:
    (found,) = plan(Spread(20.0, 35.0), [count], [seeds])
    deviation = sqrt(20.0**2 + 2 * 35.0**2 / seeds)
    effect = TTestPower().solve_power(nobs=count, alpha=0.05, power=0.8, alternative="two-sided")
    assert found.competitions_like_these == pytest.approx(effect * deviation, rel=1e-4)
    assert found.share_of_runs == pytest.approx(100 * 2 * 35**2 / seeds / deviation**2)


@pytest.mark.parametrize(("count", "seeds"), [(75, 3), (22, 2), (15, 16)])
def test_the_difference_for_these_competitions_has_the_power(count, seeds) -> None:
    (found,) = plan(Spread(20.0, 35.0), [count], [seeds], power=0.9)
    freedom = 2 * count * (seeds - 1)
    shift = found.these_competitions / sqrt(2 * 35.0**2 / seeds / count)
    critical = stats.t.ppf(0.975, freedom)
    found_power = stats.nct.sf(critical, freedom, shift) + stats.nct.cdf(-critical, freedom, shift)
    assert found_power == pytest.approx(0.9, abs=1e-6)


def test_simulated_experiments_find_the_difference_as_often_as_planned() -> None:
    random = np.random.default_rng(5)
    spread, count, seeds = Spread(15.0, 30.0), 22, 3
    (found,) = plan(spread, [count], [seeds])
    true = found.competitions_like_these + random.normal(0, spread.between, (4000, count))
    noise = random.normal(0, spread.within, (2, 4000, count, seeds)).mean(axis=-1)
    p = stats.ttest_1samp(true + noise[0] - noise[1], 0, axis=1).pvalue
    assert (p < 0.05).mean() == pytest.approx(0.8, abs=0.02)


def test_spreads_worked_by_hand() -> None:
    yes, no = True, False
    a = grid({"x": [yes, yes], "y": [yes, no], "z": [no, no]})
    b = grid({"x": [no, no], "y": [no, no], "z": [no, yes]})
    # An attempt's variance is p (1 - p) n / (n - 1): 0, 1/2, 0 and 0, 0, 1/2.
    # Differences 1, 1/2, -1/2: variance 7/12. A share's variance: (0 + 1/4 + 1/4) / 3 = 1/6.
    found = spread_of(a, b)
    assert found.within == pytest.approx(100 * sqrt(1 / 6))
    assert found.between == pytest.approx(100 * sqrt(7 / 12 - 1 / 6))


def test_estimated_spreads_are_those_that_were_simulated() -> None:
    random = np.random.default_rng(8)
    count, seeds = 3000, 4
    level = random.uniform(0.3, 0.7, count)
    shift = random.uniform(-0.2, 0.2, count)
    sides = []
    for chances in (level + shift / 2, level - shift / 2):
        won = random.random((count, seeds)) < chances[:, None]
        sides.append(grid({f"c{at}": row.tolist() for at, row in enumerate(won)}))
    found = spread_of(*sides)
    within = np.mean([p * (1 - p) for p in (level + shift / 2, level - shift / 2)])
    assert found.between == pytest.approx(100 * shift.std(), rel=0.1)
    assert found.within == pytest.approx(100 * sqrt(within), rel=0.02)


def test_what_cannot_be_known_is_not_told() -> None:
    (one_seed,) = plan(Spread(20.0, 30.0), [10], [1])
    assert one_seed.these_competitions is None
    (one_competition,) = plan(Spread(20.0, 30.0), [1], [3])
    assert one_competition.competitions_like_these is None
    (nothing,) = plan(Spread(0.0, 0.0), [10], [3])
    assert (nothing.these_competitions, nothing.competitions_like_these) == (None, None)
    assert nothing.share_of_runs is None


@pytest.mark.parametrize("few", [{"x": [True], "y": [False]}, {"x": [True, False]}])
def test_spreads_need_two_competitions_and_two_attempts_of_both_at_each(few) -> None:
    enough = grid({slug: [True, False] for slug in few})
    for a, b in ((grid(few), enough), (enough, grid(few))):
        with pytest.raises(Invalid) as refused:
            spread_of(a, b)
        assert refused.value.detail == (
            "The spreads cannot be estimated from these experiments: that needs two competitions, "
            "and two attempts of each experiment at each of them. State them instead: between and "
            "within."
        )
    two = grid({"x": [True, False], "y": [True, False]})
    assert spread_of(two, two).within == pytest.approx(100 * sqrt(1 / 2))
    with pytest.raises(ValueError, match="same competitions"):
        spread_of(two, grid({"x": [True, False], "z": [True, False]}))


def test_a_size_that_finds_no_possible_difference_says_so() -> None:
    few, more = plan(Spread(90.0, 90.0), [2, 75], [2])
    for one in (few.these_competitions, few.competitions_like_these):
        assert one is not None
        assert one > 100
    assert (few.these_too_few, few.like_these_too_few) == (True, True)
    assert 0 < more.these_competitions < 100
    assert 0 < more.competitions_like_these < 100
    assert (more.these_too_few, more.like_these_too_few) == (False, False)
    (one,) = plan(Spread(90.0, 90.0), [1], [1])
    assert (one.these_too_few, one.like_these_too_few) == (False, False)
