"""Rates, improvements and costs, worked by hand; Wilson's interval against statsmodels."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from app.statistics.efficiency import Usage, efficiency
from app.statistics.intervals import over_competitions, over_runs
from app.statistics.success import SuccessOutcome, success_rates, wilson
from app.statistics.trajectory import best_position, best_so_far


def runs(
    slug: str, *improvements: float | None, threshold: float = 0.1, **more
) -> list[SuccessOutcome]:
    return [
        SuccessOutcome(
            slug,
            None if gain is None else "graded",
            gain,
            gain is not None and gain > threshold,
            more.get("ever", gain is not None and gain > threshold),
        )
        for gain in improvements
    ]


def test_rates_weigh_competitions_alike():
    found = success_rates([*runs("a", 0.2, 0.0, None, 0.5), *runs("b", 0.05, -0.3)])["all"]

    # a: 2 of 4, b: 0 of 2; variances of these shares: 0.5 * 0.5 / 3 and 0
    assert found.success_rate.mean == 25.0
    assert found.success_rate.sem == pytest.approx(100 * sqrt(0.25 / 3) / 2)
    assert found.success_rate.wilson95 is None
    assert found.success_rate.bootstrap95 == (0.0, 50.0)
    assert (found.competitions, found.runs, found.without_score) == (2, 6, 1)
    # a: (0.2 + 0 + 0.5) / 3, b: -0.125
    assert found.average_improvement.mean == pytest.approx((0.7 / 3 - 0.125) / 2)
    assert found.average_improvement.runs == 5


def test_one_competition_has_wilsons_interval_and_its_runs_spread():
    found = success_rates(runs("a", 0.2, 0.0, None, 0.5))["all"]

    assert found.success_rate.mean == 50.0
    assert found.success_rate.sem == pytest.approx(100 * sqrt(0.25 / 3))
    assert found.success_rate.bootstrap95 is None
    assert found.success_rate.wilson95 == pytest.approx((15.0, 85.0), abs=0.05)
    mean = 0.7 / 3
    spread = sum((x - mean) ** 2 for x in (0.2, 0.0, 0.5)) / 2
    assert found.average_improvement.sem == pytest.approx(sqrt(spread / 3))
    assert found.average_improvement.median == 0.2


def test_a_rate_that_ends_in_5_is_exact():
    """It was 28.749999999999996, which other tables would show as 28.7."""
    found = success_rates([one for n in range(80) for one in runs(f"c{n}", 0.2 if n < 23 else 0.0)])
    assert found["all"].success_rate.mean == 28.75


def test_one_run_has_no_spread():
    found = success_rates([*runs("a", 0.2), *runs("b", 0.2, 0.2)])["all"]
    assert (found.success_rate.mean, found.success_rate.sem) == (100.0, None)
    assert found.average_improvement.sem is None
    assert found.average_improvement.mean == 0.2


def test_sorts_are_counted_and_success_at_any_step_is_a_rate_of_its_own():
    outcomes = [
        SuccessOutcome("a", "graded", 0.0, False, True),
        SuccessOutcome("a", "reported", 0.2, True, True),
        SuccessOutcome("a", "imported", None, True, True),  # against a baseline of 0
        SuccessOutcome("a", None, None, False, False),
    ]
    found = success_rates(outcomes)["all"]
    assert found.results == {"graded": 1, "reported": 1, "imported": 1}
    assert (found.success_rate.mean, found.ever_success_rate.mean) == (50.0, 75.0)
    assert found.average_improvement.runs == 2


def test_groups_and_competitions_that_count_as_failed():
    outcomes = [*runs("a", 0.2), *runs("b", 0.0)]
    found = success_rates(
        outcomes, {"first": ["a"], "second": ["b", "c"], "none": ["x"]}, failed=["c"]
    )
    assert list(found) == ["all", "first", "second"]
    assert found["all"].success_rate.mean == pytest.approx(100 / 3)
    assert found["second"].success_rate.mean == 0.0
    assert found["second"].competitions == 2
    assert found["second"].success_rate.sem is None
    only = success_rates([], failed=["c"])["all"]
    assert (only.success_rate.mean, only.success_rate.wilson95) == (0.0, None)
    assert only.average_improvement.mean is None
    assert only.average_improvement.runs == 0


def test_nothing_is_no_rate():
    found = success_rates([])["all"]
    assert (found.competitions, found.runs, found.success_rate) == (0, 0, None)


@pytest.mark.parametrize(("successes", "runs"), [(0, 8), (8, 8), (1, 25), (13, 25), (1, 1)])
def test_wilson_is_statsmodels(successes, runs):
    theirs = proportion_confint(successes, runs, method="wilson")
    assert wilson(successes, runs) == pytest.approx([100 * each for each in theirs], abs=1e-9)


def test_costs_are_averaged_over_the_runs_that_told_them():
    found = efficiency(
        [
            (Usage(1000, 500, 10, 1800.0, 0.5), True),
            (Usage(2000, 500, None, 5400.0, 1.5), False),
            (Usage(500, None, None, None, None), True),
            (Usage(None, 800, None, None, None), False),
        ]
    )
    means = {name: (a.mean, a.runs) for name, a in found.averages.items()}
    assert means == {
        "prompt_tokens": (3500 / 3, 3),
        "completion_tokens": (600, 3),
        "tokens": (2000, 2),
        "steps": (10, 1),
        "seconds": (3600.0, 2),
        "cost_usd": (1.0, 2),
    }
    # one of the two runs that told it succeeded; they took 4,000 tokens, 2 hours and 2 dollars
    assert found.successes_per == {
        "million_tokens": pytest.approx(250.0), "hour": 0.5, "dollar": 0.5, "step": 0.1,
    }  # fmt: skip


def test_what_is_free_or_unknown_has_no_rate_per_cost():
    free = efficiency([(Usage(cost_usd=0.0), True)])
    assert free.successes_per["dollar"] is None
    assert free.averages["cost_usd"].mean == 0.0
    assert efficiency([]).averages["tokens"].mean is None


def test_the_best_so_far_in_both_directions():
    assert best_so_far([3.0, 5.0, 4.0], higher_is_better=True) == [3.0, 5.0, 5.0]
    assert best_so_far([3.0, 5.0, 2.0], higher_is_better=False) == [3.0, 3.0, 2.0]
    assert best_so_far([], higher_is_better=True) == []
    assert best_position([2.0, 1.0, 1.0], higher_is_better=False) == 1
    assert best_position([], higher_is_better=False) is None


def test_rates_have_both_named_uncertainties() -> None:
    won = {"a": [True, True, False], "b": [False, False], "c": [True, True]}
    outcomes = [
        SuccessOutcome(slug, "graded", 0.0, one, one) for slug, each in won.items() for one in each
    ]
    rate = success_rates(outcomes)["all"].success_rate
    shares = np.array([[np.mean(each)] for each in won.values()])
    again = over_runs(shares, np.array([3, 2, 2])).interval[:, 0]
    assert rate.runs95 == pytest.approx(tuple(100 * again))
    like = over_competitions(shares).interval[:, 0]
    assert rate.competitions95 == pytest.approx(tuple(100 * like))
    alone = success_rates(outcomes[:1])["all"].success_rate
    assert alone.runs95 is alone.competitions95 is None


def test_the_largest_improvements_have_a_finite_mean():
    most = 1.7976931348623157e308  # stands for what is beyond a double

    one = success_rates(runs("a", -most, -most, -most, 0.5))["all"].average_improvement
    assert one.mean == pytest.approx(-0.75 * most)
    assert one.sem == pytest.approx(0.25 * most)
    assert one.median == pytest.approx(-most)

    both = success_rates([*runs("a", most, most), *runs("b", most, -most)])["all"]
    assert both.average_improvement.mean == pytest.approx(most / 2)
    assert both.average_improvement.sem == pytest.approx(most / 2)
