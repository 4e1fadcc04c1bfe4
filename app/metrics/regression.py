"""Errors of numbers. Several columns: the mean of the columns' values, as in scikit-learn.

A submission may hold any finite number, so a square may leave the range of a double. Such an
error counts as the largest double: a score is always a finite number.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field, FiniteFloat

from app.metrics.arrays import EPSILON, LARGEST, FloatArray, mean_over_columns, scaled
from app.metrics.registry import metric

NUMBERS = {"number", "integer", "probability"}


@metric(kinds=NUMBERS, columns="any")
def mean_squared_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The mean of the squared differences.

    >>> mean_squared_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    2.0
    """
    return mean_over_columns(_mean_square, y_true, y_pred)


@metric(kinds=NUMBERS, columns="any")
def root_mean_squared_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The square root of the mean squared difference, in the unit of the column.

    >>> root_mean_squared_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.4142135623730951
    """
    return mean_over_columns(_root_mean_square, y_true, y_pred)


@metric(kinds=NUMBERS, columns="any", minimum=0.0)
def root_mean_squared_log_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The root mean squared difference of log(1 + x), for x from 0 up.

    >>> root_mean_squared_log_error(np.array([0.0]), np.array([np.e - 1]))
    1.0
    """
    return mean_over_columns(_root_mean_square, np.log1p(y_true), np.log1p(y_pred))


@metric(kinds=NUMBERS, columns="any")
def mean_absolute_error(
    y_true: FloatArray, y_pred: FloatArray, *, decimals: Annotated[int, Field(ge=0)] | None = None
) -> float:
    """The mean of the absolute differences, in the unit of the column.

    `decimals` rounds the score, where that is the rule of a competition (a half to even).

    >>> mean_absolute_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.0
    """
    error = mean_over_columns(_mean_absolute, y_true, y_pred)
    return error if decimals is None else round(error, decimals)


@metric(kinds=NUMBERS, columns="any")
def median_absolute_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The median of the absolute differences, in the unit of the column.

    >>> median_absolute_error(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 99.0]))
    0.5
    """
    return mean_over_columns(_median_absolute, y_true, y_pred)


@metric(kinds=NUMBERS, columns="any")
def r2_score(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The share of the answers' variance that is explained: 1 - squared errors / variance.

    Raises:
        ValueError: the answers are constant, so there is no variance to explain.

    >>> r2_score(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    0.5
    """
    return mean_over_columns(_r2, y_true, y_pred)


@metric(kinds=NUMBERS, columns="any")
def symmetric_mean_absolute_percentage_error(
    y_true: FloatArray, y_pred: FloatArray, *, offset: FiniteFloat = 0.0
) -> float:
    """The mean of |y - p| over the mean size of y and p, in percent: from 0 to 200 (SMAPE).

    `offset` is added to answers and predictions first: with 1 it is "SMAPE+1", where errors next
    to 0 weigh no more than others. A row in which both are 0 then counts 0.

    >>> symmetric_mean_absolute_percentage_error(np.array([0.0]), np.array([2.0]), offset=1.0)
    100.0
    """

    def of_column(y: FloatArray, p: FloatArray) -> float:
        ratio = shares_of_size(y, p, offset)
        return 200.0 * float(ratio.sum()) / len(ratio)

    return mean_over_columns(of_column, y_true, y_pred)


@metric(kinds=NUMBERS, columns="any")
def mean_absolute_percentage_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The mean of |y - p| / |y|, as a share and not in percent.

    As in scikit-learn, |y| counts as at least the epsilon of float64, so an answer of 0 makes an
    error huge but finite.

    >>> mean_absolute_percentage_error(np.array([2.0, 4.0]), np.array([1.0, 4.0]))
    0.25
    """

    def of_column(y: FloatArray, p: FloatArray) -> float:
        with np.errstate(over="ignore"):
            ratio = shares_of_answer(y, p)
            return min(float(ratio.sum()) / len(ratio), LARGEST)

    return mean_over_columns(of_column, y_true, y_pred)


@metric(kinds=NUMBERS, columns="any")
def max_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The largest absolute difference; several columns: the mean of theirs.

    >>> max_error(np.array([1.0, 2.0]), np.array([1.5, 5.0]))
    3.0
    """
    return mean_over_columns(
        lambda y, p: min(float(np.abs(difference_of(y, p)).max()), LARGEST), y_true, y_pred
    )


@metric(kinds=NUMBERS, columns="any")
def explained_variance_score(y_true: FloatArray, y_pred: FloatArray) -> float:
    """1 - variance of the differences / variance of the answers: unlike R², blind to a constant.

    Raises:
        ValueError: the answers are constant, so there is no variance to explain.

    >>> explained_variance_score(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]))
    1.0
    """
    return mean_over_columns(_explained_variance, y_true, y_pred)


def shares_of_size(y: FloatArray, p: FloatArray, offset: float) -> FloatArray:
    """|y - p| / (|y| + |p|) of each row after `offset` is added; 0 where both are 0."""
    # A quarter of each where numbers are large: then no sum leaves the range of a double.
    scale = np.where(np.maximum(np.abs(y), np.abs(p)) > 1.0, 0.25, 1.0)
    y, p = y * scale + offset * scale, p * scale + offset * scale
    size = np.abs(y) + np.abs(p)
    shares: FloatArray = np.zeros(len(size))
    np.divide(np.abs(y - p), size, out=shares, where=size > 0.0)
    return shares


def shares_of_answer(y: FloatArray, p: FloatArray) -> FloatArray:
    """|y - p| / |y| of each row, with |y| at least the epsilon of float64; may be infinite."""
    with np.errstate(over="ignore"):
        shares: FloatArray = np.abs(difference_of(y, p)) / np.maximum(np.abs(y), EPSILON)
        return shares


def difference_of(y_true: FloatArray, y_pred: FloatArray) -> FloatArray:
    """The difference of each row; infinite where it leaves the range of a double."""
    with np.errstate(over="ignore"):
        return y_true - y_pred


def _mean_square(y_true: FloatArray, y_pred: FloatArray) -> float:
    difference = difference_of(y_true, y_pred)
    with np.errstate(over="ignore"):
        return min(float(difference @ difference) / len(difference), LARGEST)


def _root_mean_square(y_true: FloatArray, y_pred: FloatArray) -> float:
    square = _mean_square(y_true, y_pred)
    if square < LARGEST:
        return math.sqrt(square)
    # hypot scales its arguments, so it also serves where their squares overflow.
    difference = difference_of(y_true, y_pred)
    return min(math.hypot(*difference.tolist()), LARGEST) / math.sqrt(len(difference))


def _mean_absolute(y_true: FloatArray, y_pred: FloatArray) -> float:
    difference = np.abs(difference_of(y_true, y_pred))
    with np.errstate(over="ignore"):
        return min(float(difference.sum()) / len(difference), LARGEST)


def _median_absolute(y_true: FloatArray, y_pred: FloatArray) -> float:
    difference = np.abs(difference_of(y_true, y_pred))
    with np.errstate(over="ignore"):
        return min(float(np.median(difference)), LARGEST)


def _r2(y_true: FloatArray, y_pred: FloatArray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        centred = y_true - y_true.mean()
        variation = float(centred @ centred)
    if y_true.min() == y_true.max() or not 0.0 < variation < math.inf:
        raise ValueError("R² is undefined: the answers are constant, or vary beyond all measure")
    unexplained = _mean_square(y_true, y_pred) / variation * len(y_true)
    return max(1.0 - unexplained, -LARGEST)


def _explained_variance(y_true: FloatArray, y_pred: FloatArray) -> float:
    variation = _variance(y_true)
    if y_true.min() == y_true.max() or not 0.0 < variation < LARGEST:
        raise ValueError("the answers are constant, or vary beyond all measure")
    unexplained = _variance(np.clip(difference_of(y_true, y_pred), -LARGEST, LARGEST))
    with np.errstate(over="ignore"):
        return max(1.0 - float(np.float64(unexplained) / variation), -LARGEST)


def _variance(values: FloatArray) -> float:
    """The variance, at most the largest double."""
    values, exponent = scaled(values)
    centred = values - values.mean()
    variance = float(centred @ centred) / len(centred)
    try:
        return math.ldexp(variance, -2 * exponent)
    except OverflowError:
        return LARGEST
