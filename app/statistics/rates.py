"""Medal rates of an experiment, for all competitions and for groups of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.statistics.attempts import RATES, Grid
from app.statistics.estimates import (
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    Interval,
    cluster_bootstrap,
    t_interval,
)
from app.statistics.intervals import Uncertainty, over_competitions, over_runs

ALL = "all"
PERCENT = 100.0


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
    parts: list[tuple[int, str, Grid, list[int]]] = []
    for number, (grid, groups) in enumerate(experiments):
        parts.append((number, ALL, grid, list(range(len(grid.competitions)))))
        for name, competitions in groups.items():
            positions = grid.positions(set(competitions))
            if positions and name != ALL:
                parts.append((number, name, grid, positions))
    shares = [PERCENT * grid.shares[positions] for _, _, grid, positions in parts]
    by_size: dict[int, list[int]] = {}
    for at, (_, _, _, positions) in enumerate(parts):
        by_size.setdefault(len(positions), []).append(at)
    intervals: dict[int, list[Interval | None]] = {}
    for members in by_size.values():
        table = np.concatenate([shares[at] for at in members], axis=1)
        found = cluster_bootstrap(table, resamples=resamples, seed=seed)
        for order, at in enumerate(members):
            intervals[at] = found[order * len(RATES) : (order + 1) * len(RATES)]
    rates: list[dict[str, GroupRates]] = [{} for _ in experiments]
    for at, (number, name, grid, positions) in enumerate(parts):
        rates[number][name] = _group(grid, positions, intervals[at])
    return rates


def _group(grid: Grid, positions: list[int], intervals: Sequence[Interval | None]) -> GroupRates:
    outcomes, counted = grid.outcomes[:, positions], grid.counted[:, positions]
    shares, attempts = grid.shares[positions], grid.attempts[positions]
    means = (PERCENT * shares.mean(axis=0)).tolist()
    # A seed's total is comparable with another's only over the same competitions.
    complete = bool(counted.all())
    per_seed = PERCENT * outcomes.mean(axis=1) if complete else np.empty((0, len(RATES)))
    runs, competitions = over_runs(shares, attempts), over_competitions(shares)
    seed_means, seed_sems = (per_seed.mean(axis=0), _sems(per_seed)) if complete else (None, None)
    here = {grid.competitions[at] for at in positions}
    missing = Counter(slug for slug, _ in grid.missing if slug in here)
    low = PERCENT * grid.low[positions].mean(axis=0)
    high = PERCENT * grid.high[positions].mean(axis=0)
    rates = {}
    for at, name in enumerate(RATES):
        mean = means[at] if seed_means is None else float(seed_means[at])
        sem = None if seed_sems is None else float(seed_sems[at])
        rates[name] = Estimate(
            mean=mean,
            sem=sem,
            ci95=None if sem is None else t_interval(mean, sem, len(per_seed)),
            bootstrap95=intervals[at],
            per_seed=tuple(per_seed[:, at].tolist()),
            runs_sem=None if runs is None else PERCENT * float(runs.sem[at]),
            runs_df=None if runs is None or runs.sem[at] == 0 else float(runs.degrees[at]),
            runs95=_interval(runs, at),
            competitions_sem=None
            if competitions is None
            else PERCENT * float(competitions.sem[at]),
            competitions95=_interval(competitions, at),
            bounds=(float(low[at]), float(high[at])) if missing else None,
        )
    return GroupRates(
        competitions=len(positions),
        seeds=len(grid.seeds),
        missing=sum(missing.values()),
        without_results=sum(count == grid.all_seeds for count in missing.values()),
        rates=rates,
        members=tuple(grid.competitions[at] for at in positions),
    )


def _sems(per_seed: Array) -> Array | None:
    """The standard error of each column's mean; None for a single row."""
    if len(per_seed) < 2:
        return None
    sems: Array = per_seed.std(axis=0, ddof=1) / np.sqrt(len(per_seed))
    return sems


def _interval(uncertainty: Uncertainty | None, at: int) -> Interval | None:
    if uncertainty is None:
        return None
    low, high = PERCENT * uncertainty.interval[:, at]
    return float(low), float(high)
