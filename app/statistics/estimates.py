"""A mean with its uncertainties.

They answer different questions. `runs95` is for the same competitions, run again; `competitions95`
is for competitions like these. `sem` and `ci95` are those of MLE-bench's README, from the totals of
the seeds; they need many seeds and a rate far from 0 and 100.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from app.units import PERCENT

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]
Interval = tuple[float, float]
RESAMPLES = 10_000
COLUMNS_AT_ONCE = 200
EXACT_IN_FLOAT32 = 2**24  # whole numbers up to it are exact
DIGITS = 12  # after the point, of a mean in percent; those beyond are of roundings
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

    `bounds` is the mean over all seeds if all missing attempts had failed, and if all had
    succeeded; None where nothing is missing. The mean itself is outside where `complete` leaves out
    seeds whose other attempts had other outcomes.
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


def mean_in_percent(shares: Iterable[float], count: int) -> float:
    """The mean of `count` shares, in percent, the same in whatever order they come.

    Thirds and fifths are not exact, so sums in different orders differ in their last bits, and a
    rate that ends in 5 would be rounded up in one table and down in another. So every mean of such
    shares is computed here, by a sum that does not depend on the order, and rounded to the digits
    that are correct despite the rounding of the shares.

    >>> mean_in_percent([1 / 3] * 9 + [0.0] * 7, 16)
    18.75
    """
    return round(PERCENT * fsum(shares) / count, DIGITS)


def means_in_percent(shares: Array) -> list[float]:
    """`mean_in_percent` of each column of `shares`."""
    return [mean_in_percent(column, len(shares)) for column in shares.T.tolist()]


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


def t_interval(mean: float, sem: float, count: int) -> Interval:
    """The 95 % interval of Student's t for a mean of `count` values."""
    reach = _t_quantile(count - 1) * sem
    return mean - reach, mean + reach


@lru_cache(maxsize=1024)
def _t_quantile(freedom: int) -> float:
    return float(stdtrit(freedom, 0.975))


def cluster_bootstrap(
    items: Array, *, denominator: int | None = None, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Interval | None]:
    """Percentile intervals (95 %) for the mean over rows of each column of `items`.

    A row is a competition, whose seeds are drawn together. With only one row, each column has None.
    An end is the value of a resampled mean, not one between two of them.

    If all items are fractions with this `denominator`, numerators are summed. Their sums are exact
    with half as many bytes, and take half the time.
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
    distinct, same = np.unique(items[:, varied].T, axis=0, return_inverse=True)
    counts = resampling_counts(rows, resamples, seed)
    largest = rows * np.abs(items).max(initial=0.0)
    if denominator is not None and denominator * largest <= EXACT_IN_FLOAT32:
        numerators = np.rint(denominator * distinct).astype(np.float32)
        ends = _ends(numerators, counts) / (rows * denominator)
    else:
        ends = _ends(distinct, counts) / rows
    # The sum of shares can exceed the true mean of a resample in its last bits.
    ends = np.clip(
        ends, distinct.min(axis=1, initial=np.inf), distinct.max(axis=1, initial=-np.inf)
    )
    for at, which in zip(varied.tolist(), same.ravel().tolist(), strict=True):
        found[at] = (float(ends[0, which]), float(ends[1, which]))
    return found


def _ends(columns: Floats, counts: Floats) -> Array:
    """The ends of the middle 95 % of each column's sums. Each row of `columns` is one column."""
    resamples = len(counts)
    first = int(np.ceil(0.025 * resamples)) - 1
    last = resamples - 1 - first  # as far from the other end: of b - a, the ends are those of a - b
    ends = np.empty((2, len(columns)))
    drawn = counts.T.astype(columns.dtype)
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        # Partitions along contiguous memory are several times faster than numpy's percentile, and
        # one for each end than one for both: only the former uses the processor's vectors.
        sums = columns[part] @ drawn
        for end, place in enumerate((first, last)):
            sums.partition(place, axis=1)
            ends[end, part] = sums[:, place]
    return ends


@lru_cache(maxsize=8)
def resampling_counts(rows: int, resamples: int, seed: int) -> NDArray[np.float32]:
    """For each resample, how often each row is drawn: `rows` times in all, with replacement."""
    draws = np.random.default_rng(seed).integers(0, rows, size=(resamples, rows))
    draws += np.arange(resamples)[:, None] * rows
    counts = np.bincount(draws.ravel(), minlength=resamples * rows)
    found = counts.reshape(resamples, rows).astype(np.float32)
    found.flags.writeable = False
    return found
