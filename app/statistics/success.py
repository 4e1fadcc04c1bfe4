"""Success against a baseline: rates and improvements per competition and over competitions.

Definitions are those of MLAgentBench (arXiv 2310.03302): a run succeeds when its final score
improves on the baseline by more than the threshold; the average improvement is over runs that
have a final score. A run without one is a failure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median
from sys import float_info
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from app.statistics.efficiency import Efficiency, Usage, efficiency
from app.statistics.estimates import Interval, cluster_bootstrap, mean_and_sem, mean_in_percent
from app.statistics.intervals import in_percent, over_competitions, over_runs
from app.statistics.rates import ALL
from app.units import PERCENT

KINDS = ("graded", "reported", "imported")
LARGEST = float_info.max
# Sums and squares of larger improvements may overflow: of a score that is far off, for example.
OVERFLOWING, SCALE = 1e150, 2.0**-600


class SuccessOutcome(NamedTuple):
    """The outcome of one run.

    `kind` is one of `KINDS`, None for a run without a final score. `improvement` is a share of the
    baseline, None without a final score and for a baseline of 0. `success` is that of the final
    score, `ever` that of any score of the run, the final one included.
    """

    competition: str
    kind: str | None
    improvement: float | None
    success: bool
    ever: bool
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of runs in percent.

    `mean` is the mean over competitions of their shares. `sem` is of that mean, from the runs
    within each competition; None where a competition has fewer than two runs. `wilson95` is there
    for a single competition, `bootstrap95` (over competitions) for several. `runs95` is for these
    competitions, run again, None where one has fewer than two runs; `competitions95` is for
    competitions like these, None for one.
    """

    mean: float
    sem: float | None
    wilson95: Interval | None
    bootstrap95: Interval | None
    runs95: Interval | None = None
    competitions95: Interval | None = None


@dataclass(frozen=True, slots=True)
class Improvement:
    """The average improvement on the baseline, as a share of it, over runs with a final score.

    `mean` is the mean over competitions of their means, `median` the median of these; for one
    competition, the median over its runs. `runs` is their number; without any, the rest is None.
    """

    mean: float | None
    sem: float | None
    median: float | None
    runs: int


@dataclass(frozen=True, slots=True)
class GroupSuccess:
    """The results of a group's runs. `results` counts runs by the kind of their final score."""

    competitions: int
    runs: int
    results: dict[str, int]
    without_score: int
    success_rate: Rate | None
    ever_success_rate: Rate | None
    average_improvement: Improvement
    efficiency: Efficiency


def success_rates(
    outcomes: Iterable[SuccessOutcome],
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    failed: Collection[str] = (),
) -> dict[str, GroupSuccess]:
    """The group "all", and each of `groups` (competitions by name) that has runs.

    `failed` are competitions without a run that count as a rate of 0. Rates weigh all competitions
    equally, however many runs each has.
    """
    by: dict[str, list[SuccessOutcome]] = {slug: [] for slug in sorted(failed)}
    for one in outcomes:
        by.setdefault(one.competition, []).append(one)
    found = {ALL: _group(list(by.values()))}
    for name, slugs in (groups or {}).items():
        mine = [by[slug] for slug in slugs if slug in by]
        if mine:
            found[name] = _group(mine)
    return found


def all_last(groups: Mapping[str, GroupSuccess]) -> list[tuple[str, GroupSuccess]]:
    """The groups in the order of tables: that of all competitions is the last."""
    return sorted(groups.items(), key=lambda group: group[0] == ALL)


def _group(parts: list[list[SuccessOutcome]]) -> GroupSuccess:
    runs = [one for part in parts for one in part]
    return GroupSuccess(
        competitions=len(parts),
        runs=len(runs),
        results={kind: sum(one.kind == kind for one in runs) for kind in KINDS},
        without_score=sum(one.kind is None for one in runs),
        success_rate=_rate([[one.success for one in part] for part in parts]),
        ever_success_rate=_rate([[one.ever for one in part] for part in parts]),
        average_improvement=_improvement(parts),
        efficiency=efficiency([(one.usage, one.success) for one in runs]),
    )


def _rate(parts: list[list[bool]]) -> Rate | None:
    if not parts:
        return None
    shares = [fmean(part) if part else 0.0 for part in parts]
    column = np.array(shares)[:, None]
    runs = over_runs(column, np.array([len(part) for part in parts]))
    alone = parts[0] if len(parts) == 1 and parts[0] else None
    return Rate(
        mean=mean_in_percent(shares, len(shares)),
        sem=None if runs is None else PERCENT * float(runs.sem[0]),
        wilson95=None if alone is None else wilson(sum(alone), len(alone)),
        bootstrap95=cluster_bootstrap(PERCENT * column)[0],
        runs95=in_percent(runs),
        competitions95=in_percent(over_competitions(column)),
    )


def _improvement(parts: list[list[SuccessOutcome]]) -> Improvement:
    known_values = [
        values
        for part in parts
        if (values := [one.improvement for one in part if one.improvement is not None])
    ]
    runs = sum(map(len, known_values))
    if not known_values:
        return Improvement(None, None, None, 0)
    if max(abs(value) for values in known_values for value in values) > OVERFLOWING:
        scaled = [[value * SCALE for value in values] for values in known_values]
        mean, sem, middle = _average(scaled)
        spread = None if sem is None else _unscaled(sem)
        return Improvement(_unscaled(mean), spread, _unscaled(middle), runs)
    return Improvement(*_average(known_values), runs)


def _unscaled(value: float) -> float:
    return max(-LARGEST, min(LARGEST, value / SCALE))


def _average(known_values: list[list[float]]) -> tuple[float, float | None, float]:
    """The mean over competitions of their means, its standard error, and the median."""
    if len(known_values) == 1:
        mean, sem = mean_and_sem(np.array(known_values[0]))
        return mean, sem, median(known_values[0])
    means = [fmean(values) for values in known_values]
    spreads = [mean_and_sem(np.array(values))[1] for values in known_values]
    known = [each for each in spreads if each is not None]
    sem = (
        sqrt(sum(s * s for s in known)) / len(known_values)
        if len(known) == len(known_values)
        else None
    )
    return fmean(means), sem, median(means)


def wilson(successes: int, runs: int) -> Interval:
    """Wilson's score interval (95 %) for a share, in percent (Wilson 1927).

    Unlike a mean with its SEM it is informative where all runs, or none, succeed.

    >>> [round(end, 1) for end in wilson(0, 8)], [round(end, 1) for end in wilson(4, 8)]
    ([0.0, 32.4], [21.5, 78.5])
    """
    z = float(ndtri(0.975))
    share, square = successes / runs, z * z
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    reach = z / (1 + square / runs) * sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    return PERCENT * max(0.0, middle - reach), PERCENT * min(1.0, middle + reach)
