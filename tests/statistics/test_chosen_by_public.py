"""The intervals of the choice by public score: never without width, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from app.statistics.chosen_by_public import ScoredAttempt, chosen_at_k, chosen_by_public
from app.statistics.pass_at_k import interval_over_runs, pass_at_k

INTERVALS = (
    "chosen_by_public_runs95", "chosen_by_public_competitions95", "gap_runs95",
    "gap_competitions95",
)  # fmt: skip


def attempts(*made: tuple[bool, float | None]) -> list[ScoredAttempt]:
    return [ScoredAttempt(success, public) for success, public in made]


ALIKE = attempts((True, 0.9), (True, 0.8), (False, 0.1))


@pytest.mark.parametrize(
    "one",
    [
        ALIKE,
        attempts((True, 0.5), (True, 0.5), (True, 0.5)),
        attempts((False, 0.5), (False, None), (False, None)),
        attempts((True, 0.1), (False, 0.8), (False, 0.9)),
    ],
    ids=["no gap", "all won", "none won", "always misled"],
)
def test_competitions_that_agree_leave_no_interval_without_width(one: list[ScoredAttempt]) -> None:
    _, two, three = chosen_by_public([one] * 6, (1, 2, 3))

    for found in (two, three):
        # The bootstrap over competitions that agree has no width.
        assert found.gap95[0] == found.gap95[1]
        for name in INTERVALS:
            low, high = getattr(found, name)
            value = found.gap if name.startswith("gap") else found.chosen_by_public
            assert 0 <= low <= value <= high <= 100
            assert high - low > 5


@pytest.mark.parametrize("k", [1, 2, 3])
def test_where_no_attempt_succeeds_the_interval_is_wilsons_of_the_choices(k: int) -> None:
    """As for pass@k: 18 attempts at 6 competitions make 18 / k choices."""
    lost = attempts((False, 0.5), (False, 0.4), (False, None))
    (found,) = chosen_by_public([lost] * 6, (k,))
    low, high = proportion_confint(0, 18 / k, method="wilson")
    assert found.chosen_by_public_runs95 == pytest.approx((100 * low, 100 * high))
    assert found.chosen_by_public_runs95 == pytest.approx(
        interval_over_runs(np.full(6, 3), [0] * 6, k)
    )


def test_other_numbers_of_attempts_change_nothing() -> None:
    some = [ALIKE, attempts((False, 0.2), (True, 0.1), (True, 0.3))]
    assert chosen_by_public(some, (1, 2, 3)) == [chosen_by_public(some, (k,))[0] for k in (1, 2, 3)]


def test_the_intervals_over_runs_are_from_resamples_with_the_prior_attempts() -> None:
    """With other random numbers, and each resample's chances counted by choices."""
    some = [ALIKE, attempts((False, 0.9), (True, 0.1), (True, 0.3), (False, 0.3))]
    draw, k, rate, errors = np.random.default_rng(1), 2, 4 / 7, np.zeros(2)
    for one in some:
        count, found = len(one), []
        for _ in range(1500):
            drawn = [one[at] for at in draw.integers(0, count, count)]
            made = [
                each if draw.random() >= 0.15 / (count + 0.15)
                else ScoredAttempt(bool(draw.random() < rate), each.public)
                for each in drawn
            ]  # fmt: skip
            chosen = chosen_at_k(made, k)
            found.append((chosen, pass_at_k(count, sum(each.success for each in made), k) - chosen))
        errors += np.var(found, axis=0) * count / (count - 1) + 0.5 * (k / count) ** 2 / 2
    (result,) = chosen_by_public(some, (k,))
    for value, error, interval in (
        (result.chosen_by_public, errors[0], result.chosen_by_public_runs95),
        (result.gap, errors[1], result.gap_runs95),
    ):
        p = value / 100
        number = max(1.0, p * (1 - p) / (error / 4))
        low, high = proportion_confint(p * number, number, method="wilson")
        assert interval == pytest.approx((100 * low, 100 * high), abs=1.5)


def test_one_attempt_is_not_chosen() -> None:
    (found,) = chosen_by_public([ALIKE, attempts((False, 0.2), (True, 0.1))], (1,))

    assert found.gap == 0.0
    assert (found.gap_runs95, found.gap_competitions95) == (None, None)
    rate = interval_over_runs(np.array([3, 2]), [2, 1], 1)
    assert found.chosen_by_public_runs95 == rate


def test_what_is_not_known_has_no_interval() -> None:
    (alone,) = chosen_by_public([ALIKE], (2,))
    assert alone.chosen_by_public_competitions95 is None
    assert alone.gap_competitions95 is None
    assert alone.gap_runs95 is not None
    (single,) = chosen_by_public([ALIKE, attempts((True, 0.3))], (1,))
    assert single.chosen_by_public_runs95 is None
    assert single.chosen_by_public_competitions95 is not None


def test_the_same_attempts_have_the_same_intervals_in_any_order() -> None:
    assert chosen_by_public([ALIKE] * 4, (2,)) == chosen_by_public([ALIKE[::-1]] * 4, (2,))


def test_equal_public_scores_are_chosen_by_chance() -> None:
    """All public scores equal: the choice is a draw, whose interval is that of the rate."""
    tied = [attempts((True, 0.5), (False, 0.5), (False, 0.5), (True, 0.5))] * 20
    one, two = chosen_by_public(tied, (1, 2))

    assert two.chosen_by_public == one.chosen_by_public == 50.0
    low, high = two.chosen_by_public_runs95
    assert high - low == pytest.approx(np.diff(one.chosen_by_public_runs95)[0], rel=0.15)


def chances_of_the_best(chances: np.ndarray, k: int, told: float) -> np.ndarray:
    """The chance that the best public score of k attempts is a success's.

    A public score is `told` or less for a failure, evenly; and for a success evenly from 0 to 1.
    """
    below = (np.arange(500) + 0.5) / 500
    share = np.minimum(below / told, 1.0)
    mixed = chances[:, None] * below + (1 - chances[:, None]) * share
    return chances * k * np.mean(mixed ** (k - 1), axis=1)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("competitions", "runs", "k", "told", "rate", "spread"),
    [
        (6, 3, 2, 0.6, 0.4, 3.0),
        (15, 3, 2, 1.0, 0.1, 1.0),
        (15, 3, 3, 0.6, 0.9, 1.0),
        (22, 2, 2, 1.0, 0.4, 0.5),
        (22, 5, 3, 1.0, 0.4, 3.0),
        (40, 8, 4, 0.6, 0.4, 0.5),
        (75, 3, 2, 1.0, 0.4, 3.0),
    ],
)
def test_the_intervals_cover_the_truth(
    competitions: int, runs: int, k: int, told: float, rate: float, spread: float
) -> None:
    draw = np.random.default_rng(9)
    population = draw.beta(rate * spread, (1 - rate) * spread, 10_000)
    like = (
        chances_of_the_best(population, k, told).mean(),
        (1 - (1 - population) ** k - chances_of_the_best(population, k, told)).mean(),
    )
    many = 200
    covered = dict.fromkeys(INTERVALS, 0)
    for _ in range(many):
        chances = draw.beta(rate * spread, (1 - rate) * spread, competitions)
        won = draw.random((competitions, runs)) < chances[:, None]
        public = draw.random(won.shape) * np.where(won, 1.0, told)
        (found,) = chosen_by_public(
            [
                [ScoredAttempt(bool(w), float(p)) for w, p in zip(*row, strict=True)]
                for row in zip(won, public, strict=True)
            ],
            (k,),
        )
        best = chances_of_the_best(chances, k, told)
        again = (best.mean(), (1 - (1 - chances) ** k - best).mean())
        for name, truth in zip(INTERVALS, (again[0], like[0], again[1], like[1]), strict=True):
            low, high = getattr(found, name)
            assert low < high
            covered[name] += low <= 100 * truth <= high
    # The simulation's own standard error is 1.5 points.
    assert min(covered.values()) >= 0.91 * many, covered
