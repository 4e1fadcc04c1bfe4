"""pass@k: the probability that at least one of k attempts is a success.

Its intervals are Wilson's with an effective number of attempts, as those of rates
(`app.statistics.intervals`); pass@1 has those of a rate. For these competitions, run again, the
variance at a competition is that of the estimate under the binomial distribution with the chance
c / n of c successes of n attempts, times n / (n - 1). It depends on the chance more than n attempts
tell, so `PRIOR_ATTEMPTS` with the rate of all competitions are added. One unseen success of n
attempts changes the estimate by k / n. Simulated coverage is 93 % or more
(`tests/statistics/test_pass_at_k.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, lcm

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from app.domain.result_choices import RATES
from app.domain.wording import counted
from app.errors import Invalid
from app.statistics.attempts import Grid
from app.statistics.estimates import (
    EXACT_IN_FLOAT32,
    Array,
    Interval,
    cluster_bootstrap,
    means_in_percent,
)
from app.statistics.intervals import (
    UNSEEN_DISAGREEMENT,
    in_percent,
    of_squared_error,
    over_competitions,
    over_runs,
    percent,
)
from app.units import PERCENT

PRIOR_ATTEMPTS = 0.15  # from simulations: less covers too little, more makes intervals too wide


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The mean over competitions, in percent.

    `runs95` is for these competitions, run again: None where one has a single attempt.
    `competitions95` and `bootstrap95` are for competitions like these, None for one.
    """

    k: int
    mean: float
    bootstrap95: Interval | None
    runs95: Interval | None = None
    competitions95: Interval | None = None


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """The unbiased estimate 1 - C(n-c, k) / C(n, k) for one competition (Chen et al. 2021).

    It is the share of all choices of k of the n attempts that have at least one success. It is
    computed in whole numbers, with one division at the end.

    Raises:
        Invalid: k is less than 1 or more than n.

    >>> pass_at_k(3, 1, 1), pass_at_k(3, 1, 2), pass_at_k(3, 1, 3)
    (0.3333333333333333, 0.6666666666666666, 1.0)
    """
    if k < 1:
        raise Invalid(f"pass@{k} is not defined: k is at least 1.")
    if k > attempts:
        raise Invalid(
            f"pass@{k} cannot be estimated from {counted(attempts, 'attempt')} at a competition: "
            f"k is from 1 to {attempts}."
        )
    ways = comb(attempts, k)
    return (ways - comb(attempts - successes, k)) / ways


def by_successes(attempts: int, k: int) -> Array:
    """`pass_at_k` for each number of successes, from none to all, by ratios of the one before.

    >>> by_successes(3, 2).round(3).tolist()
    [0.0, 0.667, 1.0, 1.0]
    """
    left = np.arange(attempts, 0.0, -1.0)
    none_of_k = np.cumprod(np.maximum(left - k, 0.0) / left)
    return 1.0 - np.concatenate([[1.0], none_of_k])


def passes(grid: Grid, ks: tuple[int, ...], rate: str = "any_medal") -> list[PassAtK]:
    """pass@k over the grid's competitions for each of `ks`; a success is one of `RATES`.

    Raises:
        Invalid: a k is more than the attempts at a competition.
    """
    successes = grid.successes[:, RATES.index(rate)].tolist()
    attempts = grid.attempts.tolist()
    chances = np.array(
        [[pass_at_k(n, c, k) for k in ks] for n, c in zip(attempts, successes, strict=True)]
    )
    means = means_in_percent(chances)
    return [
        PassAtK(
            k, means[at], _bootstrap(chances[:, [at]], lcm(*(comb(n, k) for n in set(attempts)))),
            interval_over_runs(grid.attempts, successes, k),
            in_percent(over_competitions(chances[:, [at]])),
        )
        for at, k in enumerate(ks)
    ]  # fmt: skip


def _bootstrap(chances: Array, denominator: int) -> Interval | None:
    """The interval of the mean of fractions with this `denominator`."""
    ends = cluster_bootstrap(
        chances, denominator=denominator if denominator <= EXACT_IN_FLOAT32 else None
    )[0]
    return ends and (PERCENT * ends[0], PERCENT * ends[1])


def interval_over_runs(
    attempts: NDArray[np.int64], successes: Sequence[int], k: int
) -> Interval | None:
    """The interval of pass@k if these competitions were run again; None for a single attempt."""
    if k == 1:  # it is a rate, with the interval of one
        return in_percent(over_runs((np.array(successes) / attempts)[:, None], attempts))
    if attempts.min() < 2:
        return None
    each = attempts.tolist()
    values = [pass_at_k(n, c, k) for n, c in zip(each, successes, strict=True)]
    rate = sum(successes) / sum(each)
    variances = [
        _variance(n, (c + PRIOR_ATTEMPTS * rate) / (n + PRIOR_ATTEMPTS), k)
        for n, c in zip(each, successes, strict=True)
    ]
    of_one = k / attempts
    count = len(attempts)
    error = (sum(variances) + UNSEEN_DISAGREEMENT * np.mean(of_one**2)) / count**2
    most = count**2 / float(of_one.sum())
    return percent(of_squared_error(np.array([np.mean(values)]), np.array([error]), most))


@lru_cache(maxsize=4096)
def _variance(attempts: int, chance: float, k: int) -> float:
    """The variance of the estimate if each attempt succeeds with this chance."""
    # By logarithms and ratios, because binomials of 1,100 attempts exceed all floats.
    won = np.arange(attempts + 1.0)
    lost = attempts - won
    ways = gammaln(attempts + 1.0) - gammaln(won + 1.0) - gammaln(lost + 1.0)
    chances = np.exp(ways + xlogy(won, chance) + xlog1py(lost, -chance))
    estimates = by_successes(attempts, k)
    mean = float(chances @ estimates)
    return float(chances @ (estimates - mean) ** 2) * attempts / (attempts - 1)
