"""The two uncertainties: formulas written anew, what is missing, and simulated coverage."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from app.domain.result_choices import RATES, Padding
from app.errors import AttemptsMissing
from app.statistics.attempts import make_grid
from app.statistics.intervals import (
    UNSEEN_COMPETITIONS,
    UNSEEN_SHARE,
    over_competitions,
    over_runs,
    unseen_competitions,
)
from app.statistics.rates import medal_rates
from tests.statistics.make import attempt, random_attempts

# Competitions, runs at each, rate: the cells of the table in which t over seeds covered 40 to 94 %.
CELLS = [(75, 3, 0.44), (75, 3, 0.03), (22, 3, 0.08), (15, 3, 0.08), (15, 3, 0.03)]
MORE = [(22, 3, 0.44), (15, 3, 0.44), (75, 16, 0.44), (38, 5, 0.97), (22, 2, 0.44), (75, 2, 0.03),
        (75, 16, 0.03), (75, 5, 0.97), (15, 16, 0.08), (22, 16, 0.08), (38, 3, 0.2), (50, 3, 0.03),
        (38, 16, 0.03), (22, 3, 0.97)]  # fmt: skip
SIMULATED = 10_000


@pytest.mark.simulation
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("competitions", "runs", "rate"), CELLS + MORE)
def test_nominal_95_percent_covers_93_to_98(
    competitions: int, runs: int, rate: float, spread: float
) -> None:
    """Each agent has chances from a Beta distribution; both questions have their own truth."""
    draw = np.random.default_rng(12)
    chances = draw.beta(rate * spread, (1 - rate) * spread, (SIMULATED, competitions))
    shares = draw.binomial(runs, chances) / runs
    attempts = np.full(competitions, runs)
    # One column for each agent.
    again, alike = over_runs(shares.T, attempts), over_competitions(shares.T)
    for found, truth in ((again, chances.mean(axis=1)), (alike, rate)):
        low, high = found.interval
        covered = np.mean((low <= truth) & (truth <= high))
        assert 0.93 <= covered <= 0.98  # the simulation's own standard error is 0.2 points
        assert low.min() >= 0
        assert high.max() <= 1
        assert (high - low).min() > 0


@pytest.mark.simulation
@pytest.mark.parametrize("seeds", [[2, 8], [2, 16], [2, 3, 5, 8], [2, 2, 2, 8], [2, 8, 8, 8]])
@pytest.mark.parametrize("rate", [0.08, 0.2, 0.44, 0.97])
@pytest.mark.parametrize("competitions", [22, 75])
def test_unequal_numbers_of_seeds_are_covered_as_well(
    competitions: int, rate: float, seeds: list[int]
) -> None:
    draw = np.random.default_rng(12)
    attempts = np.resize(seeds, competitions)
    chances = draw.beta(rate, 1 - rate, (SIMULATED, competitions))
    low, high = over_runs((draw.binomial(attempts, chances) / attempts).T, attempts).interval
    truth = chances.mean(axis=1)
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.98


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(2, 5)), min_size=2, max_size=9))
@example([(0, 2), (3, 4), (3, 4)])  # a mean of one half, where two are won and all are lost
def test_intervals_are_those_of_the_formulas_in_the_manual(results: list[tuple[int, int]]) -> None:
    """docs/results.md, "How the numbers are made", from wins and numbers of attempts."""
    counts = [n for _, n in results]
    shares = [min(won, n) / n for won, n in results]
    many, p = len(shares), sum(shares) / len(shares)
    each = [one * (1 - one) / (n - 1) for one, n in zip(shares, counts, strict=True)]
    pooled = sum(v * n * (n - 1) for v, n in zip(each, counts, strict=True))
    alike = sum(1 / n for n in counts) * pooled / sum(n - 1 for n in counts)
    seen = max(sum(each), (sum(each) + alike) / 2)
    again = (seen + sum(1 / n**2 for n in counts) / (2 * many)) / many**2
    won, lost = sum(one > 0 for one in shares), sum(one < 1 for one in shares)
    w = min(won, lost) if p == pytest.approx(0.5) else won if p < 0.5 else lost
    m, q = 0.7 + many / (4 * (1 + w)), (many * p + 1) / (many + 2)
    like = sum((one - p) ** 2 for one in shares) + m * q * (1 - q)
    like /= many * (many - 1 + m)

    column = np.array(shares)[:, None]
    for found, squared, most in (
        (over_runs(column, np.array(counts)), again, many**2 / sum(1 / n for n in counts)),
        (over_competitions(column), like, many),
    ):
        sure = p < 1e-12 or p > 1 - 1e-12
        number = most if sure else max(1, p * (1 - p) / squared)
        low, high = proportion_confint(p * number, number, method="wilson")
        assert found is not None
        assert found.interval[:, 0] == pytest.approx((low, high), abs=1e-9)


@settings(deadline=None)
@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 10**6))
def test_standard_errors_agree_with_the_formulas(k: int, n: int, number: int) -> None:
    attempts = random_attempts(k, n, random.Random(number))
    slugs = sorted({each.competition for each in attempts})
    found = medal_rates(make_grid(attempts, slugs), resamples=50)["all"].rates
    for at, rate in enumerate(RATES):
        won = [[a.outcomes[at] for a in attempts if a.competition == slug] for slug in slugs]
        variances = np.array([np.var(each, ddof=1) / n for each in won])
        shares = [100 * np.mean(each) for each in won]
        one = found[rate]
        assert one.runs_sem == pytest.approx(100 * np.sqrt(variances.sum()) / k, abs=1e-9)
        assert one.competitions_sem == pytest.approx(stats.sem(shares), abs=1e-9)
        if one.runs_sem > 1e-9:
            degrees = variances.sum() ** 2 / (variances**2 / (n - 1)).sum()
            assert one.runs_df == pytest.approx(degrees)
        else:
            assert one.runs_df is None
        for low, high in (one.runs95, one.competitions95):
            assert 0 <= low <= one.mean + 1e-9 <= high + 2e-9 <= 100 + 3e-9
            assert low < high


def test_where_nothing_varies_the_interval_is_wilsons_of_all_attempts() -> None:
    never = np.zeros((5, 1))
    runs = over_runs(never, np.full(5, 3)).interval[:, 0]
    assert runs == pytest.approx(proportion_confint(0, 15, method="wilson"))
    alike = over_competitions(never).interval[:, 0]
    assert alike == pytest.approx(proportion_confint(0, 5, method="wilson"))
    always = over_runs(1 - never, np.full(5, 3)).interval[:, 0]
    assert always == pytest.approx(1 - runs[::-1])


def test_unseen_competitions_add_to_the_squared_error_by_the_formula_of_the_manual() -> None:
    # One of four competitions is won: the mean of Agresti and Coull is 2 of 6.
    number = UNSEEN_COMPETITIONS + UNSEEN_SHARE * 4 / (1 + 1)
    expected = number * (1 / 3) * (2 / 3) / ((4 - 1 + number) * 4)

    found = unseen_competitions(np.array([[1.0], [0.0], [0.0], [0.0]]))

    assert found == pytest.approx([expected])


def test_one_run_or_one_competition_leave_a_question_open() -> None:
    one_run = medal_rates(make_grid([attempt("a", 0, "gold"), attempt("b", 0)], "ab"))["all"]
    found = one_run.rates["any_medal"]
    assert found.runs_sem is found.runs95 is found.runs_df is None
    assert found.competitions95 is not None
    one = medal_rates(make_grid([attempt("a", 0, "gold"), attempt("a", 1)], "a"))["all"]
    assert one.rates["any_medal"].competitions95 is None
    assert one.rates["any_medal"].runs95 is not None


def test_available_results_count_as_they_are_within_bounds() -> None:
    # a: 1 of 3; b: 1 of 1 and two missing
    attempts = [attempt("a", 0, "gold"), attempt("a", 1), attempt("a", 2), attempt("b", 1, "gold")]
    grid = make_grid(attempts, "ab", padding=Padding.AVAILABLE)
    groups = medal_rates(grid, {"first": ["a"], "second": ["b"], "none": ["x"]})
    assert list(groups) == ["all", "first", "second"]
    assert [each.missing for each in groups.values()] == [2, 0, 2]
    group = groups["all"]
    found = group.rates["any_medal"]
    assert found.mean == pytest.approx(100 * (1 / 3 + 1) / 2)
    assert found.bounds == pytest.approx((100 * (1 / 3 + 1 / 3) / 2, 100 * (1 / 3 + 1) / 2))
    assert (found.sem, found.ci95, found.per_seed) == (None, None, ())
    assert (group.missing, group.without_results) == (2, 0)
    for padding in (Padding.FAIL, Padding.COMPLETE):
        other = medal_rates(make_grid(attempts, "ab", padding=padding))["all"].rates["any_medal"]
        assert other.bounds == found.bounds
    whole = medal_rates(make_grid(attempts[:3], "a"))["all"].rates["any_medal"]
    assert whole.bounds is None


def test_a_competition_without_any_result_is_refused_or_marked() -> None:
    attempts = [attempt("a", 0, "gold")]
    with pytest.raises(AttemptsMissing, match="needs a result at every competition"):
        make_grid(attempts, "ab", padding=Padding.AVAILABLE)
    padded = medal_rates(make_grid(attempts, "ab", padding=Padding.FAIL), {"rest": ["b"]})
    assert (padded["rest"].without_results, padded["rest"].missing) == (1, 1)


def test_bootstrap_ends_are_means_that_can_occur() -> None:
    attempts = [attempt(f"c{n:02}", 0, "gold" if n < 4 else None) for n in range(15)]
    grid = make_grid(attempts, {each.competition for each in attempts})
    low, high = medal_rates(grid)["all"].rates["any_medal"].bootstrap95
    assert [low * 15 / 100, high * 15 / 100] == pytest.approx(
        [round(low * 15 / 100), round(high * 15 / 100)]
    )
    always = make_grid([attempt(s, n, "gold") for s in "abc" for n in range(3)], "abc")
    assert medal_rates(always)["all"].rates["any_medal"].bootstrap95 == (100.0, 100.0)
