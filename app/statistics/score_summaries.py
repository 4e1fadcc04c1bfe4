"""Summaries of scores, where medals say too little: most agents win nearly all of the easy ones.

Each attempt has one score, such as its percentile among the human teams. The summaries are those of
Agarwal et al. 2021 ("Deep Reinforcement Learning at the Edge of the Statistical Precipice",
rliable): mean, median of the competitions' means, interquartile mean (IQM), optimality gap,
performance profile and probability of improvement. Intervals are of their stratified bootstrap:
the attempts of each competition are drawn anew, with replacement, and the competitions stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.statistics.estimates import SEED, Interval, cluster_bootstrap

Array = NDArray[np.float64]
RESAMPLES = 2_000
CELLS_AT_ONCE = 2_000_000  # bounds the memory of the resamples
THRESHOLDS = tuple(float(at) for at in range(0, 100, 5))


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """A summary and its interval for these competitions, run again.

    `runs95` is None where a competition has a single attempt: nothing is known of the spread of its
    runs.
    """

    value: float
    runs95: Interval | None


@dataclass(frozen=True, slots=True)
class ProfilePoint:
    """The share of attempts, in percent, with a score above `above`."""

    above: float
    share: float
    runs95: Interval | None


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The summaries of one experiment's scores over `competitions`.

    `mean_bootstrap95` is the mean's interval for competitions like these; None for one competition.
    """

    competitions: int
    attempts: int
    mean: ScoreEstimate
    mean_bootstrap95: Interval | None
    median: ScoreEstimate
    iqm: ScoreEstimate
    optimality_gap: ScoreEstimate
    profile: list[ProfilePoint]


def summarise(scores: Sequence[Array], target: float = 100.0) -> ScoreSummary:
    """Summarise scores, an array for each competition, each with at least one attempt.

    All competitions weigh the same, except in `iqm`, in which all attempts do: it is the mean of
    what is left when the lowest and the highest quarter of all attempts (rounded down) are left
    out. `optimality_gap` is the mean amount by which attempts fall short of `target`.
    """

    def profile(each: Array) -> Array:
        above = each[..., None, :] > np.array(THRESHOLDS)[:, None]
        share: Array = 100.0 * above.mean(axis=-1)
        return share

    def statistics(drawn: Sequence[Array]) -> Array:
        means = np.stack([one.mean(axis=-1) for one in drawn], axis=-1)
        short = np.stack([np.maximum(0.0, target - one).mean(axis=-1) for one in drawn], axis=-1)
        middle = _interquartile_mean(np.concatenate(drawn, axis=-1))
        single = [means.mean(axis=-1), np.median(means, axis=-1), middle, short.mean(axis=-1)]
        curve = np.mean([profile(one) for one in drawn], axis=0)
        return np.concatenate([np.stack(single, axis=-1), curve], axis=-1)

    values = statistics(scores)
    intervals = _stratified(scores, statistics)
    ends = [None] * len(values) if intervals is None else intervals
    mean, median, iqm, gap = (
        ScoreEstimate(float(value), end) for value, end in zip(values[:4], ends[:4], strict=True)
    )
    means = np.array([[one.mean()] for one in scores])
    return ScoreSummary(
        competitions=len(scores),
        attempts=sum(len(one) for one in scores),
        mean=mean,
        mean_bootstrap95=cluster_bootstrap(means)[0],
        median=median,
        iqm=iqm,
        optimality_gap=gap,
        profile=[
            ProfilePoint(at, float(value), end)
            for at, value, end in zip(THRESHOLDS, values[4:], ends[4:], strict=True)
        ],
    )


def probability_better(a: Sequence[Array], b: Sequence[Array]) -> ScoreEstimate:
    """The probability, in percent, that an attempt of `a` scores higher than one of `b`.

    The mean over competitions of U / (n m), with Mann and Whitney's U: the share of pairs in which
    a's attempt is higher, and half of those in which both are equal.

    Raises:
        ValueError: the two are not over the same number of competitions.
    """
    if len(a) != len(b):
        raise ValueError("a comparison of scores needs the same competitions on both sides")

    def statistic(drawn: Sequence[Array]) -> Array:
        shares = []
        for ours, theirs in zip(drawn[: len(a)], drawn[len(a) :], strict=True):
            left, right = ours[..., :, None], theirs[..., None, :]
            won = (left > right).mean(axis=(-1, -2)) + 0.5 * (left == right).mean(axis=(-1, -2))
            shares.append(100.0 * won)
        mean: Array = np.mean(shares, axis=0)
        return mean[..., None]

    both = [*a, *b]
    intervals = _stratified(both, statistic)
    return ScoreEstimate(float(statistic(both)[0]), None if intervals is None else intervals[0])


def _interquartile_mean(scores: Array) -> Array:
    count = scores.shape[-1]
    cut = count // 4
    middle = np.sort(scores, axis=-1)[..., cut : count - cut]
    mean: Array = middle.mean(axis=-1)
    return mean


def _stratified(
    scores: Sequence[Array], statistics: Callable[[Sequence[Array]], Array]
) -> list[Interval] | None:
    """The 2.5 and 97.5 percentiles of each statistic over resamples of each array by itself."""
    if min(len(one) for one in scores) < 2:
        return None
    random = np.random.default_rng(SEED)
    total = sum(len(one) for one in scores)
    at_once = max(1, min(RESAMPLES, CELLS_AT_ONCE // (total * 4)))
    found = []
    for start in range(0, RESAMPLES, at_once):
        size = min(at_once, RESAMPLES - start)
        drawn = [one[random.integers(0, len(one), (size, len(one)))] for one in scores]
        found.append(statistics(drawn))
    ends = np.quantile(np.concatenate(found), [0.025, 0.975], axis=0, method="inverted_cdf")
    return [(float(low), float(high)) for low, high in ends.T]
