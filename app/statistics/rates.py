"""Medal rates of an experiment, for all competitions and for groups of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from app.domain.result_choices import RATES
from app.statistics.attempts import Grid
from app.statistics.estimates import (
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    Interval,
    cluster_bootstrap,
    mean_in_percent,
    means_in_percent,
    t_interval,
)
from app.statistics.intervals import RateUncertainty, in_percent, over_competitions, over_runs
from app.units import PERCENT

ALL = "all"  # the group of all competitions
PARTS_AT_ONCE = 200  # groups of experiments, whose arrays are in memory together
Members = TypeVar("Members")
Part = tuple[Grid, list[int]]  # a grid, and the positions of a group's competitions


@dataclass(frozen=True, slots=True)
class GroupRates:
    """The rates, in percent, over one group of competitions.

    `missing` of its `competitions` x seeds attempts have no result; `without_results` competitions
    have none at all. `members` are the competitions.
    """

    competitions: int
    seeds: int
    missing: int
    without_results: int
    rates: dict[str, Estimate]
    members: tuple[str, ...]


def named_groups(groups: Mapping[str, Members], by: str) -> dict[str, Members]:
    """The groups, renamed if a name could be confused with the group of all competitions.

    >>> named_groups({"All": 1, "vision": 2}, "tag")
    {'tag All': 1, 'vision': 2}
    """
    found = {}
    for name, members in groups.items():
        shown = name
        while shown.casefold() == ALL or (shown != name and shown in groups):
            shown = f"{by} {shown}"
        found[shown] = members
    return found


def medal_rates(
    grid: Grid,
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, GroupRates]:
    """The share of attempts that count for each of `RATES`, in percent.

    The mean is over competitions of their shares. `groups` names competitions by group; groups
    without any in the grid are left out, and the group "all" is always there.
    """
    return medal_rates_of([(grid, groups or {})], resamples=resamples, seed=seed)[0]


def medal_rates_of(
    experiments: Sequence[tuple[Grid, Mapping[str, Sequence[str]]]],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[dict[str, GroupRates]]:
    """`medal_rates` of several grids; groups of the same size share one bootstrap product."""
    parts: list[tuple[int, str, Part]] = []
    for number, (grid, groups) in enumerate(experiments):
        parts.append((number, ALL, (grid, list(range(len(grid.competitions))))))
        for name, competitions in groups.items():
            positions = grid.positions(set(competitions))
            if positions:
                parts.append((number, name, (grid, positions)))
    alike: dict[tuple[int, int], list[int]] = {}
    for at, (_, _, (grid, positions)) in enumerate(parts):
        alike.setdefault((len(positions), len(grid.seeds)), []).append(at)
    found: dict[int, GroupRates] = {}
    for members in alike.values():
        for start in range(0, len(members), PARTS_AT_ONCE):
            some = members[start : start + PARTS_AT_ONCE]
            made = _of_alike([parts[at][2] for at in some], resamples, seed)
            found.update(zip(some, made, strict=True))
    rates: list[dict[str, GroupRates]] = [{} for _ in experiments]
    for at, (number, name, _) in enumerate(parts):
        rates[number][name] = found[at]
    return rates


def _of_alike(parts: Sequence[Part], resamples: int, seed: int) -> list[GroupRates]:
    """The rates of groups with the same number of competitions and of seeds.

    Columns of all arrays are the rates of the first group, then those of the second, and so on.
    """
    shares = np.concatenate([grid.shares[positions] for grid, positions in parts], axis=1)
    attempts = np.stack([grid.attempts[positions] for grid, positions in parts], axis=1)
    denominator = math.lcm(*np.unique(attempts).tolist())
    bootstrap = cluster_bootstrap(shares, denominator=denominator, resamples=resamples, seed=seed)
    competitions = over_competitions(shares)
    several = np.repeat(attempts.min(axis=0) > 1, len(RATES))
    each = np.repeat(attempts, len(RATES), axis=1)
    runs = over_runs(shares[:, several], each[:, several]) if several.any() else None
    at_runs = np.cumsum(several) - 1
    seeds = np.stack([grid.outcomes[:, positions] for grid, positions in parts])
    per_seed = PERCENT * seeds.mean(axis=2)
    seed_sems = _sems(per_seed)
    found = []
    for number, (grid, positions) in enumerate(parts):
        # A seed's total is comparable with another's only over the same competitions.
        complete = bool(grid.counted[:, positions].all())
        missing = _missing(grid, positions)
        bounds = _bounds(grid, positions) if missing else None
        rates = {}
        for at, name in enumerate(RATES):
            column = number * len(RATES) + at
            mean = mean_in_percent(shares[:, column].tolist(), len(positions))
            sem = float(seed_sems[number, at]) if complete and seed_sems is not None else None
            ends = bootstrap[column]
            rates[name] = Estimate(
                mean=mean,
                sem=sem,
                ci95=None if sem is None else t_interval(mean, sem, per_seed.shape[1]),
                bootstrap95=ends and (PERCENT * ends[0], PERCENT * ends[1]),
                per_seed=tuple(per_seed[number, :, at].tolist()) if complete else (),
                **_of_runs(runs if several[column] else None, at_runs[column]),
                **_of_competitions(competitions, column),
                bounds=bounds[at] if bounds else None,
            )
        found.append(
            GroupRates(
                competitions=len(positions),
                seeds=len(grid.seeds),
                missing=sum(missing.values()),
                without_results=sum(count == grid.all_seeds for count in missing.values()),
                rates=rates,
                members=tuple(grid.competitions[at] for at in positions),
            )
        )
    return found


def _missing(grid: Grid, positions: Sequence[int]) -> Counter[str]:
    """The number of missing results at each of these competitions; zeros are absent."""
    if not grid.missing:
        return Counter()
    here = {grid.competitions[at] for at in positions}
    return Counter(slug for slug, _ in grid.missing if slug in here)


def _bounds(grid: Grid, positions: Sequence[int]) -> list[Interval]:
    low, high = (means_in_percent(shares[positions]) for shares in (grid.low, grid.high))
    return list(zip(low, high, strict=True))


def _sems(per_seed: Array) -> Array | None:
    """The standard error of the mean over the middle axis; None for a single seed."""
    count = per_seed.shape[1]
    if count < 2:
        return None
    sems: Array = per_seed.std(axis=1, ddof=1) / np.sqrt(count)
    return sems


def _of_runs(runs: RateUncertainty | None, at: int) -> dict[str, Any]:
    """An estimate's fields for these competitions, run again."""
    if runs is None:
        return {}
    sem = float(runs.sem[at])
    return {
        "runs_sem": PERCENT * sem,
        "runs_df": None if sem == 0 else float(runs.degrees[at]),
        "runs95": in_percent(runs, at),
    }


def _of_competitions(competitions: RateUncertainty | None, at: int) -> dict[str, Any]:
    """An estimate's fields for competitions like these."""
    if competitions is None:
        return {}
    return {
        "competitions_sem": PERCENT * float(competitions.sem[at]),
        "competitions95": in_percent(competitions, at),
    }
