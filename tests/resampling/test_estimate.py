"""Estimates from resamples: standard errors, intervals, chances of medals, reasons for none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from app.domain.leaderboard import Leaderboard
from app.metrics import bind
from app.resampling.estimate import RESAMPLES, estimate, resampled, summary
from app.resampling.metrics import plan_of

BOARD = Leaderboard.full([place / 100 for place in range(101)], higher_is_better=True)


def two_classes(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    true = (rng.random(rows) < 0.4) * 1.0
    return true, 1 / (1 + np.exp(-rng.normal(1.4 * true - 0.9, 1.0)))


def decided(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    true, predicted = two_classes(rng, rows)
    return true, (predicted > 0.5) * 1.0


def numbers(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    true = rng.normal(size=rows)
    return true, true + rng.normal(size=rows) * (0.5 + np.abs(true))


def test_the_standard_error_of_a_mean_is_the_formulas() -> None:
    true, predicted = decided(np.random.default_rng(1), 5000)

    found = estimate("accuracy_score", {}, true, predicted, None)

    share = (true == predicted).mean()
    assert found.standard_error == pytest.approx(np.sqrt(share * (1 - share) / 5000), rel=0.08)
    assert found.low is not None
    assert found.high is not None
    assert found.low < share < found.high
    assert (found.resamples, found.undefined, found.rows) == (RESAMPLES, 0, 5000)
    assert found.medals is None
    assert found.reason is None


def test_the_same_seed_gives_the_same_numbers_and_another_others() -> None:
    true, predicted = two_classes(np.random.default_rng(2), 500)

    def of_seed(seed: int) -> object:
        return estimate("roc_auc_score", {}, true, predicted, BOARD, seed=seed)

    assert of_seed(1) == of_seed(1)
    assert of_seed(1) != of_seed(2)


def test_medals_are_those_of_the_resampled_scores() -> None:
    true, predicted = decided(np.random.default_rng(3), 200)
    plan = plan_of("accuracy_score", {}, true, predicted)
    scores = resampled(plan, 1000, 9)

    found = summary(scores, BOARD, rows=200, seed=9).medals

    medals = [BOARD.medal(float(score)) for score in scores]
    assert found is not None
    assert found.none == medals.count(None) / 1000
    assert found.gold == sum(medal == "gold" for medal in medals) / 1000
    assert found.gold + found.silver + found.bronze + found.none == pytest.approx(1.0)


def test_a_score_far_beyond_the_gold_line_is_gold_in_every_resample() -> None:
    true = np.tile([0.0, 1.0], 500)

    found = estimate("accuracy_score", {}, true, true, BOARD)

    assert found.medals is not None
    assert found.medals.gold == 1.0
    assert found.standard_error == 0.0


# The interval of each metric, for the value of a very large test set of the same kind.
CHECKED: list[tuple[str, Callable[..., tuple[np.ndarray, np.ndarray]], int]] = [
    ("accuracy_score", decided, 300),
    ("f1_score", decided, 300),
    ("roc_auc_score", two_classes, 300),
    ("log_loss", two_classes, 300),
    ("mean_absolute_error", numbers, 300),
]


@pytest.mark.simulation
@pytest.mark.parametrize(("name", "make", "rows"), CHECKED, ids=[name for name, *_ in CHECKED])
def test_intervals_hold_the_true_value_as_often_as_they_say(
    name: str, make: Callable[..., tuple[np.ndarray, np.ndarray]], rows: int
) -> None:
    rng = np.random.default_rng(20261122)
    truth = bind(name, {})(*make(rng, 1_000_000))
    test_sets = 500

    held = 0
    for _ in range(test_sets):
        scores = resampled(plan_of(name, {}, *make(rng, rows)), 300, int(rng.integers(2**31)))
        found = summary(scores, None, rows=rows, seed=0)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high

    assert 0.92 <= held / test_sets <= 0.97


def test_the_largest_error_is_not_resampled() -> None:
    true, predicted = numbers(np.random.default_rng(4), 100)

    found = estimate("max_error", {}, true, predicted, None)

    assert found.standard_error is None
    assert found.resamples == 0
    assert "a single row" in (found.reason or "")


def test_few_rows_are_not_resampled() -> None:
    found = estimate("accuracy_score", {}, np.zeros(9), np.zeros(9), BOARD)

    assert found.standard_error is None
    assert found.medals is None
    assert "9 test rows" in (found.reason or "")


def test_a_metric_that_is_often_undefined_has_no_standard_error() -> None:
    true = np.zeros(100)
    true[7] = 1.0

    found = estimate("roc_auc_score", {}, true, np.linspace(0, 1, 100), None)

    assert found.standard_error is None
    assert found.undefined + found.resamples == RESAMPLES
    assert found.undefined == pytest.approx(RESAMPLES * 0.99**100, rel=0.2)
    assert "undefined" in (found.reason or "")


def test_an_interval_holds_the_middle_95_percent_of_the_resamples() -> None:
    found = summary(np.arange(1001.0), None, rows=100, seed=0)

    assert (found.low, found.high) == pytest.approx((25.0, 975.0))
    assert found.standard_error == pytest.approx(np.sqrt(1001 * 1002 / 12))


@pytest.mark.parametrize("undefined", [0, 50, 51])
def test_a_twentieth_of_the_resamples_may_be_undefined(undefined: int) -> None:
    scores = np.arange(1000.0)
    scores[:undefined] = np.nan

    found = summary(scores, None, rows=100, seed=0)

    assert (found.resamples, found.undefined) == (1000 - undefined, undefined)
    assert (found.standard_error is None) is (undefined > 50)


def test_what_was_done_in_time_counts_and_too_little_does_not() -> None:
    true, predicted = two_classes(np.random.default_rng(5), 20_000)
    done: list[int] = []

    def is_over(blocks: int) -> Callable[[], bool]:
        return lambda: done.append(1) is None and len(done) >= blocks

    enough = estimate("log_loss", {}, true, predicted, None, is_over=is_over(40))
    done.clear()
    little = estimate("log_loss", {}, true, predicted, None, is_over=is_over(1))

    assert 100 <= enough.resamples < RESAMPLES
    assert enough.standard_error is not None
    assert little.resamples < 100
    assert little.standard_error is None
    assert "in the time allowed" in (little.reason or "")


def test_scores_beyond_all_measure_give_a_reason() -> None:
    found = estimate("mean_squared_error", {}, np.zeros(20), np.full(20, 1e308), None)

    assert found.standard_error is None or np.isfinite(found.standard_error)
