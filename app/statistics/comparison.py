"""The comparison of two experiments, paired by competition."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, nctdtr, stdtr, stdtrit

from app.domain.result_choices import RATES
from app.statistics.attempts import Grid
from app.statistics.estimates import (
    DIGITS,
    Interval,
    cluster_bootstrap,
    mean_and_sem,
    mean_in_percent,
    t_interval,
)
from app.statistics.intervals import over_runs

LEVEL = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class SignTest:
    """How often each was ahead; ties do not count. `p` is two-sided and exact."""

    a_ahead: int
    b_ahead: int
    tied: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference a - b in percentage points, over the competitions of both.

    `detectable` is the smallest true difference that a two-sided paired t test at 5 % finds with
    a power of 80 %, if competitions vary as much as these. `ci95`, `p` and `detectable` are None
    for fewer than two competitions, and where all differences are equal: a spread that was not seen
    is not known to be 0.

    `runs95` is for these competitions, run again: None where one has a single attempt of either.
    `competitions95` is for competitions like these, and the same as `ci95`. Intervals are cut off
    at -100 and 100, the possible range of a difference.
    """

    competitions: int
    a_mean: float
    b_mean: float
    difference: float
    sem: float | None
    ci95: Interval | None
    bootstrap95: Interval | None
    p: float | None
    sign_test: SignTest
    detectable: float | None
    runs95: Interval | None = None
    competitions95: Interval | None = None


def compare(a: Grid, b: Grid, rate: str = "any_medal") -> Comparison:
    """Compare two grids over the same competitions; seeds are averaged within each.

    Raises:
        ValueError: the grids are not over the same competitions.
    """
    if a.competitions != b.competitions:
        raise ValueError("a paired comparison needs the same competitions on both sides")
    at = RATES.index(rate)
    ours, theirs = (100.0 * grid.shares[:, at] for grid in (a, b))
    differences = ours - theirs
    # Equal shares of thirds can differ in their last bits.
    differences[np.abs(differences) < 1e-9] = 0.0
    count = differences.size
    a_mean, b_mean = (mean_in_percent(grid.shares[:, at].tolist(), count) for grid in (a, b))
    # A mean of the differences has other last bits, which show if it ends in 5.
    mean = round(a_mean - b_mean, DIGITS)
    if np.ptp(differences) < 1e-9:  # differences of equal thirds can differ in their last bits
        sem = 0.0 if count > 1 else None
    else:
        _, sem = mean_and_sem(differences)
    p = None if not sem else float(2 * stdtr(count - 1, -abs(mean) / sem))
    like = None if not sem else within_range(t_interval(mean, sem, count))
    return Comparison(
        competitions=count,
        a_mean=a_mean,
        b_mean=b_mean,
        difference=mean,
        sem=sem,
        ci95=like,
        bootstrap95=None if not sem else cluster_bootstrap(differences[:, None])[0],
        p=p,
        sign_test=sign_test(differences),
        detectable=None if not sem else detectable_difference(sem, count),
        runs95=difference_over_runs(a, b, at),
        competitions95=like,
    )


def difference_over_runs(a: Grid, b: Grid, at: int) -> Interval | None:
    """The interval of the difference of the rates at `at`, if these competitions were run again.

    Newcombe's interval of two independent shares (1998, method 10), from the intervals of both
    rates, since the runs of the two experiments are independent. It never has zero width. None if a
    competition has a single attempt of either.
    """
    shares = [grid.shares[:, [at]] for grid in (a, b)]
    ours, theirs = over_runs(shares[0], a.attempts), over_runs(shares[1], b.attempts)
    if ours is None or theirs is None:
        return None
    first, second = float(shares[0].mean()), float(shares[1].mean())
    (low, high), (least, most) = ours.interval[:, 0].tolist(), theirs.interval[:, 0].tolist()
    down, up = hypot(first - low, most - second), hypot(high - first, second - least)
    return within_range((100.0 * (first - second - down), 100.0 * (first - second + up)))


def within_range(interval: Interval) -> Interval:
    """Cut an interval of a difference of percentages off at -100 and 100."""
    return max(-100.0, interval[0]), min(100.0, interval[1])


def sign_test(differences: NDArray[np.float64]) -> SignTest:
    """The exact two-sided sign test of "neither is ahead more often"."""
    ahead, behind = int((differences > 0).sum()), int((differences < 0).sum())
    decided = ahead + behind
    p = min(1.0, 2 * float(bdtr(min(ahead, behind), decided, 0.5))) if decided else 1.0
    return SignTest(ahead, behind, differences.size - decided, p)


def detectable_difference(
    sem: float, count: int, *, level: float = LEVEL, power: float = POWER
) -> float:
    """The true mean difference that a paired t test over `count` pairs finds with this power."""
    freedom = count - 1
    critical = float(stdtrit(freedom, 1 - level / 2))

    def missing_power(shift: float) -> float:
        # The far tail of the noncentral t is 0; beyond its range SciPy returns NaN.
        wrong_way = np.nan_to_num(nctdtr(freedom, shift, -critical))
        return float(1.0 - nctdtr(freedom, shift, critical) + wrong_way) - power

    # Imported here, because it takes half a second and only comparisons need it.
    from scipy.optimize import brentq

    enough = 1.0
    while missing_power(enough) < 0:
        enough *= 2
    return float(brentq(missing_power, 0.0, enough)) * sem
