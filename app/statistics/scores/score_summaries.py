"""Summaries of scores, where medals say too little: most agents win nearly all of the easy ones.

Each attempt has one score, such as its percentile among the human teams. The summaries are those of
Agarwal et al. 2021 ("Deep Reinforcement Learning at the Edge of the Statistical Precipice",
rliable): mean, median of the competitions' means, interquartile mean (IQM), optimality gap,
performance profile and probability of improvement.

Their intervals are not the percentile bootstrap of that paper, which for 2 to 5 attempts at a
competition covers 80 to 90 % in place of 95. Each is Wilson's with an effective number of attempts,
as for rates (`app.statistics.intervals`), from a squared standard error:

- mean, optimality gap and profile: from the variances of the attempts with n - 1;
- probability of improvement U / (n m): from the variances of the placements of both sides
  (DeLong, DeLong and Clarke-Pearson 1988);
- median and IQM over runs: from the bootstrap of McCarthy and Snowden 1985, which draws n - 1 of
  n attempts within each competition, so that its variance has n - 1 in place of n; the IQM over
  competitions: from drawing K - 1 of K competitions;
- median over competitions: the order statistics between which it is with 95 % (Thompson 1936).

Simulated coverage over runs is 93 % or more for mean, optimality gap, profile and probability, and
more than 98 % where attempts scarcely vary: so few cannot show how seldom one fails altogether
(`tests/statistics/test_score_coverage.py`). For the IQM it is 92 % or more. For the median it is 88
to 98 %, and 80 % for two attempts that are 0 or 100: few attempts say little about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import bdtr

from app.statistics.estimates import SEED, Array, Interval, cluster_bootstrap, means_in_percent
from app.statistics.intervals import (
    in_percent,
    of_squared_error,
    of_values,
    over_competitions,
    over_runs,
    percent,
    unseen,
    unseen_competitions,
)
from app.statistics.scores.score_estimates import (
    ProfilePoint,
    ScoreEstimate,
    ScoreSummary,
    on_scale,
    on_scale_ends,
)
from app.units import PERCENT

RESAMPLES = 2_000
CELLS_AT_ONCE = 2_000_000  # bounds the memory of the resamples
DECIMALS = 9  # percents of the scale are rounded to these
THRESHOLDS = tuple(float(at) for at in range(0, 100, 5))


def summarise(
    scores: Sequence[Array], target: float = 100.0, *, low: float = 0.0, high: float = 100.0
) -> ScoreSummary:
    """Summarise scores from `low` to `high`, an array for each competition, none of them empty.

    All competitions weigh the same, except in `iqm`, in which all attempts do: it is the mean of
    what is left when the lowest and the highest quarter of all attempts (rounded down) are left
    out. `optimality_gap` is the mean amount by which attempts fall short of `target`. The profile
    has 20 steps from `low`, each a twentieth of the scale.
    """
    size = (high - low) / PERCENT
    share = (target - low) / size
    percents = [(one - low) / size for one in scores]
    means = np.array([[one.mean()] for one in percents])
    bootstrap = cluster_bootstrap(means)[0]
    gaps = [np.asarray(np.maximum(0.0, share - one)) for one in percents]
    return ScoreSummary(
        competitions=len(scores),
        attempts=sum(len(one) for one in scores),
        mean=on_scale(_mean(percents, PERCENT), low, size),
        mean_bootstrap95=on_scale_ends(bootstrap, low, size),
        median=on_scale(_median(percents), low, size),
        iqm=on_scale(_iqm(percents), low, size),
        optimality_gap=on_scale(_mean(gaps, share), 0.0, size),
        profile=[
            replace(point, above=round(low + size * point.above, 10))
            for point in _profile(percents)
        ],
    )


def _profile(scores: Sequence[Array]) -> list[ProfilePoint]:
    # A score on a step is not above it, whatever the last bits of its place on the scale are.
    steps = np.array(THRESHOLDS)
    shares = np.array([(one.round(DECIMALS)[:, None] > steps).mean(axis=0) for one in scores])
    runs = over_runs(shares, np.array([len(one) for one in scores]))
    like = over_competitions(shares)
    return [
        ProfilePoint(
            above,
            mean,
            in_percent(runs, at),
            in_percent(like, at),
        )
        for at, (above, mean) in enumerate(zip(THRESHOLDS, means_in_percent(shares), strict=True))
    ]


def _mean(scores: Sequence[Array], most: float) -> ScoreEstimate:
    """The mean of scores from 0 to `most` over competitions."""
    value = float(np.mean([one.mean() for one in scores]))
    found = of_values([one / (most or 1.0) for one in scores])
    runs, like = (None if one is None else (most * one[0], most * one[1]) for one in found)
    return ScoreEstimate(value, runs, like)


def _median(scores: Sequence[Array]) -> ScoreEstimate:
    means = np.sort([one.mean() for one in scores])
    value, count = float(np.median(means)), len(scores)

    def medians(drawn: Sequence[Array]) -> Array:
        each = np.stack([one.mean(axis=-1) for one in drawn], axis=-1)
        found: Array = np.median(each, axis=-1)
        return found

    like = None
    # The largest number of means that may be left out at each end.
    out = max((k for k in range(count // 2 + 1) if 2 * bdtr(k - 1, count, 0.5) <= 0.05), default=0)
    if out:
        like = (float(means[out - 1]), float(means[count - out]))
    runs = _over_runs(scores, value, medians)
    if runs is None:
        return ScoreEstimate(value, None, like)
    # A median is moved by noise to one side, so the bootstrap's percentiles are within too.
    (low, high), drawn = runs
    least, most = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf").tolist()
    return ScoreEstimate(value, (min(low, least), max(high, most)), like)


def _iqm(scores: Sequence[Array]) -> ScoreEstimate:
    value = float(_interquartile_mean(np.concatenate(scores)))

    def middles(drawn: Sequence[Array]) -> Array:
        return _interquartile_mean(np.concatenate(drawn, axis=-1))

    like = None
    if (count := len(scores)) > 1:
        random = np.random.default_rng(SEED)
        rows = random.integers(0, count, (RESAMPLES, count - 1))
        drawn = [
            float(_interquartile_mean(np.concatenate([scores[at] for at in row])))
            for row in rows.tolist()
        ]
        error = (np.var(drawn) / PERCENT**2) + unseen_competitions(_shares(scores))
        like = percent(of_squared_error(np.array([value / PERCENT]), error, count))
    runs = _over_runs(scores, value, middles)
    return ScoreEstimate(value, None if runs is None else runs[0], like)


def _shares(scores: Sequence[Array]) -> Array:
    return np.array([[one.mean() / PERCENT] for one in scores])


def _interquartile_mean(scores: Array) -> Array:
    count = scores.shape[-1]
    cut = count // 4
    middle = np.sort(scores, axis=-1)[..., cut : count - cut]
    mean: Array = middle.mean(axis=-1)
    return mean


def _over_runs(
    scores: Sequence[Array], value: float, statistic: Callable[[Sequence[Array]], Array]
) -> tuple[Interval, Array] | None:
    """The interval of a statistic by the variance of resamples, which are returned with it."""
    sizes = np.array([[len(one)] for one in scores])
    if sizes.min() < 2:
        return None
    random = np.random.default_rng(SEED)
    at_once = max(1, min(RESAMPLES, CELLS_AT_ONCE // int(sizes.sum())))
    found = []
    for start in range(0, RESAMPLES, at_once):
        size = min(at_once, RESAMPLES - start)
        drawn = [one[random.integers(0, len(one), (size, len(one) - 1))] for one in scores]
        found.append(statistic(drawn))
    count = len(scores)
    resampled = np.concatenate(found)
    error = np.var(resampled) / PERCENT**2 + unseen(sizes) / count**2
    most = count**2 / np.sum(1.0 / sizes)
    return percent(of_squared_error(np.array([value / PERCENT]), error, most)), resampled
