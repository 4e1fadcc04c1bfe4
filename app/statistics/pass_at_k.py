"""pass@k: the probability that at least one of k attempts is a success."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from app.domain.wording import counted
from app.errors import Invalid
from app.statistics.attempts import RATES, Grid
from app.statistics.estimates import Interval, cluster_bootstrap


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The mean over competitions, in percent, and its bootstrap interval over competitions."""

    k: int
    mean: float
    bootstrap95: Interval | None


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """The unbiased estimate 1 - C(n-c, k) / C(n, k) for one competition (Chen et al. 2021).

    It is the share of all choices of k of the n attempts that have at least one success. Computed
    in whole numbers, with one division at the end.

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


def passes(grid: Grid, ks: tuple[int, ...], rate: str = "any_medal") -> list[PassAtK]:
    """pass@k over the grid's competitions for each of `ks`; a success is one of `RATES`.

    Raises:
        Invalid: a k is more than the attempts at a competition.
    """
    successes = grid.successes[:, RATES.index(rate)].tolist()
    attempts = grid.attempts.tolist()
    table = 100.0 * np.array(
        [[pass_at_k(n, c, k) for k in ks] for n, c in zip(attempts, successes, strict=True)]
    )
    intervals = cluster_bootstrap(table)
    means = table.mean(axis=0)
    return [PassAtK(k, float(means[at]), intervals[at]) for at, k in enumerate(ks)]
