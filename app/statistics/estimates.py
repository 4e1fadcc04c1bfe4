"""A mean with its uncertainties: over seeds by the t distribution, over competitions by bootstrap.

The two answer different questions. The interval over seeds estimates the mean of many more seeds
on the same competitions; the bootstrap shows how much the mean depends on the choice of
competitions in the suite.
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
SEED = 20_240_801  # fixed, so that the same input has the same result


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds.

    `sem` and `ci95` are None for one seed: one number has no spread. `bootstrap95` is None for one
    competition. Intervals are not cut off at 0 and 100.
    """

    mean: float
    sem: float | None
    ci95: Interval | None
    bootstrap95: Interval | None
    per_seed: tuple[float, ...]


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
    one row.
    """
    rows, columns = items.shape
    if rows < 2:
        return [None] * columns
    means = resampling_weights(rows, resamples, seed) @ items
    # A sort along contiguous memory is several times faster than numpy's percentile by columns.
    low, high = np.quantile(np.ascontiguousarray(means.T), [0.025, 0.975], axis=1)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


@lru_cache(maxsize=8)
def resampling_weights(rows: int, resamples: int, seed: int) -> Array:
    """For each resample the share of each row: drawn with replacement, `rows` times."""
    draws = np.random.default_rng(seed).integers(0, rows, size=(resamples, rows))
    draws += np.arange(resamples)[:, None] * rows
    counts = np.bincount(draws.ravel(), minlength=resamples * rows)
    weights = counts.reshape(resamples, rows) / rows
    weights.flags.writeable = False
    return weights
