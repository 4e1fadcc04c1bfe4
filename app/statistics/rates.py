"""Medal rates of an experiment, for all competitions and for groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.statistics.attempts import RATES, Grid
from app.statistics.estimates import (
    RESAMPLES,
    SEED,
    Estimate,
    cluster_bootstrap,
    mean_and_sem,
    t_interval,
)

ALL = "all"
PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class GroupRates:
    """The rates, in percent, over one group of competitions."""

    competitions: int
    seeds: int
    rates: dict[str, Estimate]


def medal_rates(
    grid: Grid,
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, GroupRates]:
    """The share of attempts that count for each of `RATES`, in percent.

    Each seed's rate is its share over the group's competitions; mean, SEM and t interval are over
    seeds. `groups` names competitions by group; groups without any in the grid are left out, and
    the group "all" is always there.
    """
    found = {ALL: _group(grid, list(range(len(grid.competitions))), resamples, seed)}
    for name, competitions in (groups or {}).items():
        positions = grid.positions(set(competitions))
        if positions and name != ALL:
            found[name] = _group(grid, positions, resamples, seed)
    return found


def _group(grid: Grid, positions: list[int], resamples: int, seed: int) -> GroupRates:
    outcomes = grid.outcomes[:, positions, :]
    per_seed = PERCENT * outcomes.mean(axis=1)
    intervals = cluster_bootstrap(
        PERCENT * outcomes.mean(axis=0), resamples=resamples, seed=seed
    )  # fmt: skip
    rates = {}
    for at, name in enumerate(RATES):
        values = np.ascontiguousarray(per_seed[:, at])
        mean, sem = mean_and_sem(values)
        between = None if sem is None else t_interval(mean, sem, values.size)
        rates[name] = Estimate(mean, sem, between, intervals[at], tuple(values.tolist()))
    return GroupRates(len(positions), len(grid.seeds), rates)
