"""Standard errors and intervals of a mean rate, for two different questions.

*These competitions, run again*: only the runs vary. The squared standard error is
sum(v_i) / K**2 over K competitions, with v_i = p_i (1 - p_i) / (n_i - 1) for a share p_i of n_i
attempts; its degrees of freedom are Satterthwaite's, sum(v_i)**2 / sum(v_i**2 / (n_i - 1)).

*Competitions like these*: the competitions vary as well. The squared standard error is that of a
mean of K shares, sum((p_i - p)**2) / (K (K - 1)).

Both intervals are Wilson's score intervals with an effective number n* = p (1 - p) / SE**2 of
attempts (after Korn and Graubard 1998, who use Clopper and Pearson's). They stay within 0 and 100
and never have a width of 0, since each variance has a small addition for what so few attempts
cannot show: half of a competition at which one attempt differs from the others, and for
competitions like these about one that is won or lost altogether, more where few are won at all.
Where competitions have different numbers of attempts, the variance of few attempts is often 0 by
chance. There the interval over runs has the mean of sum(v_i) and of the same sum with the pooled
variance of all attempts, if that is more.
Simulated coverage of the nominal 95 % is 93 to 98 % (`tests/statistics/test_intervals.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from app.statistics.estimates import Array, Interval
from app.units import PERCENT

Z95 = float(ndtri(0.975))
UNSEEN_DISAGREEMENT = 0.5  # the number of competitions at which one attempt is assumed to differ
UNSEEN_COMPETITIONS = 0.7
UNSEEN_SHARE = 0.25  # of the competitions, divided by 1 + those that are not all lost, or all won
ROUNDING = 1e-12  # a mean of thirds and fifths is this near to its true value


@dataclass(frozen=True, slots=True)
class RateUncertainty:
    """Standard errors as shares; intervals with the lower end in [0] and the upper in [1].

    Everything is by column of the shares.
    """

    sem: Array
    degrees: Array  # NaN if nothing varies
    interval: Array


def in_percent(found: RateUncertainty | None, column: int = 0) -> Interval | None:
    """The interval of a column in percent; None where nothing is known of the uncertainty."""
    return None if found is None else percent(found.interval, column)


def percent(interval: Array, column: int = 0) -> Interval:
    """The ends of an interval of shares, in percent."""
    low, high = (PERCENT * interval[:, column]).tolist()
    return low, high


def over_runs(shares: Array, attempts: NDArray[np.int64]) -> RateUncertainty | None:
    """The uncertainty of the mean over rows of `shares`, if these competitions were run again.

    `attempts` are those at each row, or at each row for each column. None if a competition has a
    single attempt: nothing is known about the spread of its runs.
    """
    if attempts.min() < 2:
        return None
    attempts = attempts if attempts.ndim == 2 else attempts[:, None]
    return over_runs_of(shares, shares * (1.0 - shares) / (attempts - 1.0), attempts)


def over_runs_of(
    shares: Array, variances: Array, attempts: NDArray[np.int64] | Array
) -> RateUncertainty:
    """`over_runs` with the squared standard error of each share."""
    count = len(attempts)
    others = attempts - 1.0
    total = _sum(variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = total**2 / _sum(variances**2 / others)
    all_attempts = count**2 / _sum(1.0 / attempts)
    pooled = _sum(variances * attempts * others) / _sum(others)
    alike = pooled * _sum(1.0 / attempts)
    seen = np.maximum(total, (total + alike) / 2.0)
    error = (seen + unseen(attempts)) / count**2
    interval = of_squared_error(_sum(shares) / count, error, all_attempts)
    return RateUncertainty(np.sqrt(total) / count, degrees, interval)


def unseen(attempts: NDArray[np.int64] | Array) -> Array:
    """A correction to a sum of variances, from the number of attempts at each competition."""
    # One attempt of n that differs has a variance of 1 / n**2.
    added: Array = UNSEEN_DISAGREEMENT * _sum(1.0 / attempts**2) / len(attempts)
    return added


def over_competitions(shares: Array) -> RateUncertainty | None:
    """The uncertainty of the mean over rows of `shares`, for competitions like these.

    None for a single competition.
    """
    count = len(shares)
    if count < 2:
        return None
    mean = _sum(shares) / count
    squares = _sum((shares - mean) ** 2)
    number, middle = _unseen_competitions(shares)
    spread = (squares + number * middle * (1.0 - middle)) / (count - 1.0 + number)
    interval = of_squared_error(mean, spread / count, count)
    sem = np.sqrt(squares / (count * (count - 1.0)))
    return RateUncertainty(sem, np.full(len(mean), count - 1.0), interval)


def unseen_competitions(shares: Array) -> Array:
    """A correction to a squared standard error, for competitions that were not seen."""
    number, middle = _unseen_competitions(shares)
    added: Array = number * middle * (1.0 - middle) / ((len(shares) - 1.0 + number) * len(shares))
    return added


def _unseen_competitions(shares: Array) -> tuple[Array, Array]:
    """The number of unseen competitions, and their mean share."""
    count, mean = len(shares), _sum(shares) / len(shares)
    # Agresti and Coull's mean, which is never 0 or 1.
    middle = (mean * count + 1.0) / (count + 2.0)
    # If few competitions are won at all, competitions that are always won may be unseen; if few are
    # lost at all, those that are always lost. At one half the last bits must not decide.
    won, lost = (shares > 0.0).sum(axis=0), (shares < 1.0).sum(axis=0)
    varied = np.where(mean < 0.5, won, lost)
    varied = np.where(np.abs(mean - 0.5) < ROUNDING, np.minimum(won, lost), varied)
    return UNSEEN_COMPETITIONS + UNSEEN_SHARE * count / (1.0 + varied), middle


def of_values(values: Sequence[Array]) -> tuple[Interval | None, Interval | None]:
    """The intervals of a mean of values from 0 to 1, for both questions.

    `values` has an array for each competition, which all weigh the same. The formulas are those of
    shares with the variance of the values instead of p (1 - p), which is never less. The first
    interval, over runs, is None if a competition has one value; the second, over competitions, is
    None for one competition.
    """
    means = np.array([[each.mean()] for each in values])
    counts = np.array([[len(each)] for each in values])
    runs = None
    if counts.min() > 1:
        variances = np.array([[each.var(ddof=1) / len(each)] for each in values])
        runs = over_runs_of(means, variances, counts)
    found = [
        None if one is None else one.interval[:, 0] for one in (runs, over_competitions(means))
    ]
    over = [None if ends is None else (float(ends[0]), float(ends[1])) for ends in found]
    return over[0], over[1]


def _sum(rows: NDArray[np.floating[Any]]) -> Array:
    """The sum over rows. A column's sum does not depend on the other columns, to the last bit.

    NumPy's own sum adds in another order for one column than for several.
    """
    total: Array = np.cumsum(rows, axis=0)[-1]
    return total


def of_squared_error(share: Array, squared_error: Array, most: Array | float) -> Array:
    """Wilson's interval of a statistic from 0 to 1, with the effective number of attempts.

    The number is `most` if the statistic is 0 or 1.
    """
    binomial = share * (1.0 - share)
    sure = binomial < ROUNDING
    number = np.where(sure, most, np.maximum(1.0, binomial / squared_error))
    square = Z95 * Z95
    middle = (share + square / (2 * number)) / (1 + square / number)
    reach = (
        Z95
        / (1 + square / number)
        * np.sqrt(np.maximum(binomial, 0.0) / number + square / (4 * number * number))
    )
    low = np.where(share < ROUNDING, 0.0, np.maximum(0.0, middle - reach))
    high = np.where(share > 1 - ROUNDING, 1.0, np.minimum(1.0, middle + reach))
    return np.stack([low, high])
