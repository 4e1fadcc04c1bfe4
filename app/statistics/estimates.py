"""A mean with its uncertainties.

They answer different questions. `runs95` is for the same competitions, run again; `competitions95`
is for competitions like these. `sem` and `ci95` are those of MLE-bench's README, from the totals of
the seeds; they need many seeds and a rate far from 0 and 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Array = NDArray[np.float64]
Interval = tuple[float, float]
RESAMPLES = 10_000
COLUMNS_AT_ONCE = 200
SEED = 20_240_801  # fixed, so that the same input has the same result


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over competitions, in percent.

    `sem` and `ci95` (Student's t, not cut off at 0 and 100) are over the totals of the seeds; None
    for one seed, and where seeds have different competitions, for then a total is not comparable.
    `per_seed` is empty there. `bootstrap95` is None for one competition.

    `runs_sem`, `runs_df` and `runs95` answer for these competitions, run again: None where a
    competition has a single attempt. `competitions_sem` and `competitions95` answer for
    competitions like these: None for one competition. `runs_df` is None where no runs differ.

    `bounds` is the mean if all missing attempts had failed, and if all had succeeded; None where
    nothing is missing.
    """

    mean: float
    sem: float | None
    ci95: Interval | None
    bootstrap95: Interval | None
    per_seed: tuple[float, ...]
    runs_sem: float | None = None
    runs_df: float | None = None
    runs95: Interval | None = None
    competitions_sem: float | None = None
    competitions95: Interval | None = None
    bounds: Interval | None = None


def mean_and_sem(values: Array) -> tuple[float, float | None]:
    """The mean and its standard error, sd(ddof=1)/sqrt(n); None for a single value.

    >>> mean_and_sem(np.array([10.0, 20.0, 30.0]))
    (20.0, 5.773502691896258)
    >>> mean_and_sem(np.array([10.0]))
    (10.0, None)
    """
    mean = float(values.mean())
    if values.size < 2:
        return mean, None
    return mean, float(values.std(ddof=1) / np.sqrt(values.size))


def t_interval(mean: float, sem: float, count: int, level: float = 0.95) -> Interval:
    """The interval of Student's t for a mean of `count` values."""
    reach = _t_quantile(0.5 + level / 2, count - 1) * sem
    return mean - reach, mean + reach


@lru_cache(maxsize=1024)
def _t_quantile(share: float, freedom: int) -> float:
    return float(stdtrit(freedom, share))


def cluster_bootstrap(
    items: Array, *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Interval | None]:
    """Percentile intervals (95 %) for the mean over rows of each column of `items`.

    A row is a competition: its seeds are drawn together. None for each column where there is only
    one row. An end is a value that a resampled mean has, not one between two of them.
    """
    rows, columns = items.shape
    if rows < 2:
        return [None] * columns
    found: list[Interval | None] = [None] * columns
    flat = np.ptp(items, axis=0) == 0.0
    for at in np.flatnonzero(flat).tolist():
        found[at] = (float(items[0, at]), float(items[0, at]))
    # Equal columns are frequent among rates near 0 and 100, and need one quantile.
    varied = np.flatnonzero(~flat)
    distinct, same = np.unique(items[:, varied], axis=1, return_inverse=True)
    weights = resampling_weights(rows, resamples, seed)
    first = int(np.ceil(0.025 * resamples)) - 1
    last = int(np.ceil(0.975 * resamples)) - 1
    ends = np.empty((2, distinct.shape[1]))
    for start in range(0, distinct.shape[1], COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        # Partitions along contiguous memory are several times faster than numpy's percentile, and
        # one for each end than one for both: only the former uses the processor's vectors.
        means = distinct[:, part].T @ weights.T
        for end, place in enumerate((first, last)):
            means.partition(place, axis=1)
            ends[end, part] = means[:, place]
    # The sum of shares can exceed the true mean of a resample in its last bits.
    ends = np.clip(
        ends, distinct.min(axis=0, initial=np.inf), distinct.max(axis=0, initial=-np.inf)
    )
    for at, which in zip(varied.tolist(), same.ravel().tolist(), strict=True):
        found[at] = (float(ends[0, which]), float(ends[1, which]))
    return found


@lru_cache(maxsize=8)
def resampling_weights(rows: int, resamples: int, seed: int) -> Array:
    """For each resample the share of each row: drawn with replacement, `rows` times."""
    draws = np.random.default_rng(seed).integers(0, rows, size=(resamples, rows))
    draws += np.arange(resamples)[:, None] * rows
    counts = np.bincount(draws.ravel(), minlength=resamples * rows)
    weights = counts.reshape(resamples, rows) / rows
    weights.flags.writeable = False
    return weights
