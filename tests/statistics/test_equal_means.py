"""The same rate is the same number, to the last bit, in every answer that gives it."""

from __future__ import annotations

import random

import pytest

from app.domain.medals import Medal
from app.domain.result_choices import Padding
from app.services.results.experiment_summary import _rates
from app.statistics.attempt_columns import Attempt
from app.statistics.attempts import Grid, make_grid
from app.statistics.comparison import compare
from app.statistics.medals_over_time import Choice, RunHistory, TimedSubmission, medals_over
from app.statistics.pass_at_k import passes
from app.statistics.rates import medal_rates
from app.statistics.simultaneous import compare_all


def attempts_of(chance: random.Random, competitions: int, seeds: int) -> list[Attempt]:
    """Attempts that win gold or nothing; seeds after the first may be missing."""
    return [
        Attempt("e", f"c{slug:02}", seed, True, True, chance.choice((Medal.GOLD, None)))
        for slug in range(competitions)
        for seed in range(seeds)
        if seed == 0 or chance.random() > 0.05
    ]


def in_the_list(grid: Grid) -> float:
    """The rate as the list of experiments makes it, from counts in another order."""
    counts = zip(grid.attempts.tolist(), grid.successes[:, 0].tolist(), strict=True)
    return _rates(sorted([n, won, won, 0, 0, 0, n] for n, won in counts))["any_medal"]


def over_time(attempts: list[Attempt]) -> float:
    """The rate at the end of the curve of medals over time."""
    runs = [
        RunHistory(
            one.competition, one.seed, True, (TimedSubmission(1.0, 0.5, None, one.medal),)
        )
        for one in attempts
    ]  # fmt: skip
    return medals_over(runs, [2.0], Choice.LAST)[0].any_medal


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_all_answers_have_the_same_mean(seeds: int) -> None:
    chance = random.Random(seeds)
    for _ in range(40):
        attempts = attempts_of(chance, 16, seeds)
        grid = make_grid(attempts, {one.competition for one in attempts}, padding=Padding.AVAILABLE)
        mean = medal_rates(grid, resamples=20)["all"].rates["any_medal"].mean

        assert in_the_list(grid) == mean
        assert compare(grid, grid).a_mean == mean
        assert compare_all(["a", "b"], [grid, grid]).experiments[0].mean == mean
        assert passes(grid, (1,))[0].mean == mean
        assert over_time(attempts) == mean
