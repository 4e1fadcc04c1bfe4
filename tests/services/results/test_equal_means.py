"""The same rate is the same number, to the last bit, in every answer that gives it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from app.domain.medals import Medal
from app.domain.result_choices import Padding
from app.services.results.board import best_first
from app.services.results.experiment_summary import intervals_of_tables, rates_of_table
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.services.results.sensitivity import rate_and_intervals
from app.statistics.attempt_columns import Attempt
from app.statistics.attempts import Grid, make_grid
from app.statistics.chosen_by_public import ScoredAttempt, chosen_by_public
from app.statistics.comparison import compare
from app.statistics.estimates import means_in_percent
from app.statistics.intervals import over_competitions
from app.statistics.medals_over_time import Choice, RunHistory, TimedSubmission, medals_over
from app.statistics.pass_at_k import passes
from app.statistics.rates import medal_rates
from app.statistics.selection import selection_regret
from app.statistics.simultaneous import compare_all
from app.storage.database.records import ExperimentRecord
from tests.storage.make import NOON


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
    return rates_of_table(sorted([n, won, won, 0, 0, 0, n] for n, won in counts))["any_medal"]


def over_time(attempts: list[Attempt]) -> float:
    """The rate at the end of the curve of medals over time."""
    return medals_over(histories_of(attempts), [2.0], Choice.LAST)[0].any_medal


def histories_of(attempts: list[Attempt]) -> list[RunHistory]:
    """Runs with one submission each, which wins what the attempt wins."""
    return [
        RunHistory(
            one.competition, one.seed, True, (TimedSubmission(1.0, 0.5, None, one.medal),)
        )
        for one in attempts
    ]  # fmt: skip


def regret_of(attempts: list[Attempt]) -> tuple[float, float]:
    """The rate of the only choice that each run has, and of the best one."""
    found = selection_regret(histories_of(attempts), Choice.LAST)
    return found.choice, found.oracle


def of_public_choice(attempts: list[Attempt]) -> tuple[float, float]:
    """The rate as pass@1 beside the choice by public score, and as this choice from one attempt."""
    by_slug: dict[str, list[ScoredAttempt]] = {}
    for one in attempts:
        by_slug.setdefault(one.competition, []).append(ScoredAttempt(one.medal is not None, 0.5))
    (found,) = chosen_by_public(list(by_slug.values()), [1])
    return found.pass_at_k, found.chosen_by_public


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
        assert regret_of(attempts) == (mean, mean)
        assert of_public_choice(attempts) == (mean, mean)
        assert means_in_percent(grid.shares)[0] == mean


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_all_answers_have_the_same_intervals(seeds: int) -> None:
    chance = random.Random(seeds)
    for _ in range(40):
        attempts = attempts_of(chance, 15, seeds)
        slugs = {one.competition for one in attempts}
        grid = make_grid(attempts, slugs, padding=Padding.AVAILABLE)
        rate = medal_rates(grid)["all"].rates["any_medal"]
        once = passes(grid, (1,))[0]
        table = [[n, won, won, 0, 0, 0, n] for n, won in zip(
            grid.attempts.tolist(), grid.successes[:, 0].tolist(), strict=True
        )]  # fmt: skip

        assert intervals_of_tables([table]) == [rate.runs95]
        assert rate_and_intervals(grid, 0, slice(None)) == (
            rate.mean,
            rate.competitions95,
            rate.runs95,
        )
        assert once.runs95 == rate.runs95
        assert (once.competitions95, once.bootstrap95) == (rate.competitions95, rate.bootstrap95)


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_bounds_are_the_rates_if_all_missing_results_had_failed_or_succeeded(seeds: int) -> None:
    chance = random.Random(seeds)
    for _ in range(40):
        attempts = attempts_of(chance, 15, seeds)
        slugs = {one.competition for one in attempts}
        bounds, failed = (
            medal_rates(make_grid(attempts, slugs, padding=padding), resamples=20)["all"].rates
            for padding in (Padding.AVAILABLE, Padding.FAIL)
        )
        there = {(one.competition, one.seed) for one in attempts}
        missing = [(slug, n) for slug in slugs for n in range(seeds) if (slug, n) not in there]
        won = [Attempt("e", *each, True, True, Medal.GOLD) for each in missing]
        best = medal_rates(make_grid([*attempts, *won], slugs), resamples=20)["all"].rates
        for name, rate in bounds.items():
            if missing and name in ("any_medal", "gold"):
                assert rate.bounds == (failed[name].mean, best[name].mean)


def test_the_last_bits_of_one_half_decide_nothing() -> None:
    chance = random.Random(1)
    for _ in range(100):
        won = [0]
        while 2 * sum(won) != 3 * len(won):
            won = [chance.randrange(4) for _ in range(8)]
        shares = np.array(won)[:, None] / 3.0
        found = over_competitions(np.hstack([shares, 1.0 - shares]))
        assert found is not None
        (low, least), (high, most) = found.interval
        assert (low, high) == pytest.approx((1.0 - most, 1.0 - least), abs=1e-12)


def test_equal_rates_are_on_the_board_by_name() -> None:
    chance = random.Random(2)
    for _ in range(40):
        won = [chance.randrange(4) for _ in range(9)]
        board = []
        for name in ("a", "b"):
            chance.shuffle(won)
            board.append(on_board(name, won))
        assert [one.experiment.name for one in best_first(board[::-1])] == ["a", "b"]


def on_board(name: str, won: list[int]) -> ResultContext:
    """An experiment with so many gold medals of three attempts at each competition."""
    attempts = [
        Attempt(name, f"c{slug}", seed, True, True, Medal.GOLD if seed < count else None)
        for slug, count in enumerate(won)
        for seed in range(3)
    ]
    grid = make_grid(attempts, {one.competition for one in attempts})
    record = ExperimentRecord(name=name, agent="a", model="m", created_at=NOON)
    return ResultContext(
        experiment=record, filters=ResultFilter(), grid=grid, missing=(), flags=(), excluded=(),
        outside=0, open=0, imported=0, policies={}, failures={}, disclosed={},
    )  # fmt: skip
