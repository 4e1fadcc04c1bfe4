"""Summaries of scores against SciPy, hand-worked cases, and formulas written anew."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from app.statistics.intervals import unseen_competitions
from app.statistics.scores.probability_better import probability_better
from app.statistics.scores.score_summaries import THRESHOLDS, summarise


def scores(competitions: int, attempts: int, seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    level = random.uniform(20, 95, competitions)
    return [np.clip(random.normal(one, 12, attempts), 0, 100) for one in level]


def test_a_case_worked_by_hand() -> None:
    found = summarise([np.array([0.0, 100.0]), np.array([50.0, 90.0])], target=80.0)
    assert found.mean.value == 60.0
    assert found.median.value == 60.0
    assert found.iqm.value == 70.0  # of 0, 50, 90, 100 the middle two
    assert found.optimality_gap.value == pytest.approx((40 + 15) / 2)
    shares = {one.above: one.share for one in found.profile}
    assert (shares[0.0], shares[50.0], shares[90.0]) == (75.0, 50.0, 25.0)
    assert (found.competitions, found.attempts) == (2, 4)
    # The variances of the means are 0.25 and 0.04; half of 1/4 is added for what was not seen.
    error = (0.25 + 0.04 + 0.5 / 4) / 4
    low, high = proportion_confint(0.6 * 0.6 * 0.4 / error, 0.6 * 0.4 / error, method="wilson")
    # Fewer than one effective attempt counts as one.
    assert 0.6 * 0.4 / error > 1
    assert found.mean.runs95 == pytest.approx((100 * low, 100 * high))


@pytest.mark.parametrize(("competitions", "attempts"), [(1, 2), (5, 3), (22, 4), (75, 3)])
def test_summaries_agree_with_scipy(competitions: int, attempts: int) -> None:
    given = scores(competitions, attempts, competitions)
    found = summarise(given)
    flat = np.concatenate(given)
    assert found.mean.value == pytest.approx(flat.mean())
    assert found.iqm.value == pytest.approx(stats.trim_mean(flat, 0.25))
    assert found.median.value == pytest.approx(np.median([one.mean() for one in given]))
    assert found.optimality_gap.value == pytest.approx(100 - flat.mean())
    for at, point in zip(THRESHOLDS, found.profile, strict=True):
        assert point.share == pytest.approx(100 * (flat > at).mean())
        assert point.runs95[0] <= point.share <= point.runs95[1] + 1e-9
    for one in (found.mean, found.median, found.iqm, found.optimality_gap):
        low, high = one.runs95
        assert low <= high


def test_the_probability_is_that_of_mann_and_whitney() -> None:
    a, b = scores(9, 5, 1), [np.round(one, -1) for one in scores(9, 4, 2)]
    a = [np.round(one, -1) for one in a]  # so that there are ties
    expected = np.mean([
        100 * stats.mannwhitneyu(x, y).statistic / (len(x) * len(y))
        for x, y in zip(a, b, strict=True)
    ])  # fmt: skip
    found = probability_better(a, b)
    assert found.value == pytest.approx(expected)
    assert found.runs95[0] < found.value < found.runs95[1]
    assert probability_better(b, a).value == pytest.approx(100 - expected)
    assert probability_better(a, a).value == pytest.approx(50)


def test_the_interval_of_a_probability_is_from_the_placements_of_both_sides() -> None:
    """DeLong's variances, pair by pair, then the formula of rates run again."""
    draw = np.random.default_rng(6)
    sizes = [(2, 3), (4, 2), (3, 5), (6, 6)]
    a, b = ([draw.integers(0, 7, pair[side]) * 1.0 for pair in sizes] for side in (0, 1))
    shares, variances, sizes_alone = [], [], []
    for x, y in zip(a, b, strict=True):
        above = (x[:, None] > y) + 0.5 * (x[:, None] == y)
        shares.append(above.mean())
        placements = above.mean(axis=1), above.mean(axis=0)
        variances.append(sum(np.var(each, ddof=1) / len(each) for each in placements))
        sizes_alone.append((1 / x.size**2 + 1 / y.size**2) ** -0.5)
    p, v, n = (np.array(each) for each in (np.mean(shares), variances, sizes_alone))
    pooled = (v * n * (n - 1)).sum() / (n - 1).sum()
    seen = max(v.sum(), (v.sum() + pooled * (1 / n).sum()) / 2)
    error = (seen + 0.5 * (1 / n**2).sum() / 4) / 4**2
    number = p * (1 - p) / error
    low, high = proportion_confint(p * number, number, method="wilson")

    found = probability_better(a, b)

    assert number > 1
    assert (found.value, found.runs95) == (
        pytest.approx(100 * p), pytest.approx((100 * low, 100 * high)),
    )  # fmt: skip


def test_the_intervals_of_the_middle_mean_are_from_resamples_of_one_fewer() -> None:
    """With other random numbers: 3 of 4 attempts of each, and 8 of 9 competitions."""
    given = [np.round(one) for one in scores(9, 4, 3)]
    draw = np.random.default_rng(1)
    attempts = np.stack([one[draw.integers(0, 4, (4000, 3))] for one in given], axis=1)
    competitions = np.stack(given)[draw.integers(0, 9, (4000, 8))]
    runs, like = (
        stats.trim_mean(drawn.reshape(4000, -1), 0.25, axis=1) for drawn in (attempts, competitions)
    )
    found = summarise(given).iqm
    p = stats.trim_mean(np.concatenate(given), 0.25) / 100
    means = np.array([[one.mean() / 100] for one in given])
    for interval, error in (
        (found.runs95, np.var(runs) / 100**2 + 0.5 / 4**2 / 9**2),
        (found.competitions95, np.var(like) / 100**2 + unseen_competitions(means)[0]),
    ):
        number = p * (1 - p) / error
        low, high = proportion_confint(p * number, number, method="wilson")
        assert interval == pytest.approx((100 * low, 100 * high), abs=0.5)
    assert summarise(given[:2]).iqm.competitions95 is not None


@pytest.mark.parametrize("competitions", [5, 6, 8, 9, 20, 59])
def test_the_interval_of_the_median_is_that_of_scipys_order_statistics(competitions: int) -> None:
    given = np.random.default_rng(competitions).uniform(0, 100, competitions)
    found = summarise([np.array([each, each]) for each in given]).median.competitions95
    test = stats.quantile_test(given, q=np.median(given), p=0.5)
    expected: Any = test.confidence_interval(0.95)
    assert found == (None if np.isnan(expected.low) else pytest.approx(tuple(expected)))


def test_the_optimality_gap_is_in_the_units_of_the_scale() -> None:
    given = [np.array([20.0, 40.0]), np.array([50.0, 50.0])]
    found = summarise(given, target=30.0, low=10.0, high=50.0)
    assert found.optimality_gap.value == pytest.approx((10 + 0 + 0 + 0) / 4)


@pytest.mark.parametrize("score", [0.0, 100.0])
def test_scores_that_are_all_at_an_end_have_wilsons_interval_of_all_attempts(score: float) -> None:
    found = summarise([np.full(n, score) for n in (2, 3, 6)])
    share, most = score / 100, 9 / (1 / 2 + 1 / 3 + 1 / 6)
    low, high = proportion_confint(share * most, most, method="wilson")
    for one in (found.mean, found.median, found.iqm):
        assert one.runs95 == pytest.approx((100 * low, 100 * high))


def test_runs_that_hardly_differ_leave_narrow_intervals_although_competitions_differ() -> None:
    draw = np.random.default_rng(5)
    given = [level + draw.normal(0, 1, 10) for level in np.linspace(5, 95, 40)]
    found = summarise(given)
    for one in (found.median, found.iqm):
        low, high = one.runs95
        assert low < one.value < high
        assert high - low < 2
        assert one.competitions95[1] - one.competitions95[0] > 20


def test_one_attempt_leaves_the_spread_of_runs_unknown() -> None:
    found = summarise([np.array([10.0, 20.0]), np.array([90.0])])
    assert found.mean.runs95 is None
    assert all(one.runs95 is None for one in found.profile)
    assert found.mean_bootstrap95 == (15.0, 90.0)
    assert summarise([np.array([90.0])]).mean_bootstrap95 is None
    assert probability_better([np.array([1.0])], [np.array([2.0])]).runs95 is None
    two, other = np.array([1.0, 4.0]), np.array([2.0, 3.0])  # two attempts show a spread
    assert probability_better([two], [other]).runs95 is not None
    for pair in ([two], [np.array([1.0])]), ([np.array([1.0])], [two]):
        assert probability_better(*pair).runs95 is None


def test_the_same_scores_have_the_same_intervals() -> None:
    assert summarise(scores(10, 3, 5)) == summarise(scores(10, 3, 5))
    with pytest.raises(ValueError, match="same competitions"):
        probability_better(scores(2, 2, 1), scores(3, 2, 1))


def test_a_score_on_a_step_of_the_profile_is_not_above_it() -> None:
    tenth = (0.55 - 0.5) / (1.0 - 0.5)  # a little more than 0.1
    for low, high, score in ((-1.2, 1.2, 1.08), (0.0, 2.0, tenth)):
        found = summarise([np.array([score, score])], high, low=low, high=high)
        shares = {one.above: one.share for one in found.profile}
        step = 0.1 if score == tenth else score
        before = max(at for at in shares if at < step)
        assert (shares[step], shares[before]) == (0.0, 100.0)


def test_shares_that_end_in_5_are_exact() -> None:
    given = [np.array([100.0 if n < 23 else 0.0]) for n in range(80)]
    assert summarise(given).profile[0].share == 28.75
    assert probability_better(given, [np.array([50.0])] * 80).value == 28.75


def test_many_attempts_are_compared_without_a_table_of_all_pairs() -> None:
    a, b = scores(1, 2_000, 1), scores(1, 2_000, 2)
    tracemalloc.start()
    try:
        found = probability_better(a, b)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    share = stats.mannwhitneyu(a[0], b[0]).statistic / 2_000**2
    assert found.value == pytest.approx(100 * share)
    assert peak < 5_000_000  # it took 40 MB
