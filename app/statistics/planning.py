"""The smallest detectable difference for given numbers of seeds and competitions.

The difference of two experiments over K competitions with n seeds each has the squared standard
error (between**2 + 2 within**2 / n) / K for competitions like these, and 2 within**2 / (n K) for
these competitions, run again (Miller 2024, arXiv 2411.00640). `between` is the standard deviation
over competitions of the true difference, `within` that of an attempt at its competition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from app.domain.result_choices import RATES
from app.errors import Invalid
from app.statistics.attempts import Grid
from app.statistics.comparison import LEVEL, POWER, detectable_difference
from app.units import PERCENT

MOST_DIFFERENCE = 100.0  # the largest difference of two rates in percent


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations in percentage points: over competitions, and of a single attempt."""

    between: float
    within: float


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """The smallest true differences, in percentage points, that the requested power finds.

    `these_competitions` is None for one seed, because then nothing is known of the spread of runs.
    `competitions_like_these` is None for one competition. Both are None if there is no spread at
    all. `these_too_few` and `like_these_too_few` say that the difference is more than 100 points,
    which is impossible for two rates. `share_of_runs` is the part of the squared error, in percent,
    that more seeds can remove: the rest needs more competitions.
    """

    competitions: int
    seeds: int
    these_competitions: float | None
    competitions_like_these: float | None
    share_of_runs: float | None
    these_too_few: bool = False
    like_these_too_few: bool = False


def spread_of(a: Grid, b: Grid, rate: str = "any_medal") -> Spread:
    """The spreads of two experiments over the same competitions.

    Raises:
        ValueError: the grids are not over the same competitions.
        Invalid: there is a single competition, or a competition with a single attempt.
    """
    if a.competitions != b.competitions:
        raise ValueError("spreads need the same competitions on both sides")
    if len(a.competitions) < 2 or min(a.attempts.min(), b.attempts.min()) < 2:
        raise Invalid(
            "The spreads cannot be estimated from these experiments: that needs two competitions, "
            "and two attempts of each experiment at each of them. State them instead: between and "
            "within."
        )
    at = RATES.index(rate)
    shares = [grid.shares[:, at] for grid in (a, b)]
    # The variance of an attempt's outcome, and of a competition's share, unbiased.
    of_attempt = [
        p * (1 - p) * n / (n - 1) for p, n in zip(shares, (a.attempts, b.attempts), strict=True)
    ]
    of_share = of_attempt[0] / a.attempts + of_attempt[1] / b.attempts
    seen = float(np.var(shares[0] - shares[1], ddof=1))
    between = max(0.0, seen - float(of_share.mean()))
    within = float(np.mean(of_attempt))
    return Spread(PERCENT * sqrt(between), PERCENT * sqrt(within))


def plan(
    spread: Spread,
    competitions: Sequence[int],
    seeds: Sequence[int],
    *,
    power: float = POWER,
    level: float = LEVEL,
) -> list[PlannedSize]:
    """The difference that each size detects by a two-sided t test at `level` with this `power`."""
    found = []
    for count in competitions:
        for number in seeds:
            runs = 2 * spread.within**2 / number
            total = spread.between**2 + runs
            freedom = 2 * count * (number - 1)
            these = like = None
            if freedom and runs:
                sem = sqrt(runs / count)
                these = detectable_difference(sem, freedom + 1, level=level, power=power)
            if count > 1 and total:
                sem = sqrt(total / count)
                like = detectable_difference(sem, count, level=level, power=power)
            share = PERCENT * runs / total if total else None
            found.append(
                PlannedSize(
                    count, number, these, like, share,
                    these_too_few=_is_too_large(these), like_these_too_few=_is_too_large(like),
                )
            )  # fmt: skip
    return found


def _is_too_large(difference: float | None) -> bool:
    return difference is not None and difference > MOST_DIFFERENCE
