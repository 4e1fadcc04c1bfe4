"""Correlations. Several columns: the mean of the columns' values.

Constant predictions say nothing about the answers: their correlation counts as 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.metrics.arrays import FloatArray, mean_over_columns, scaled
from app.metrics.registry import metric

NUMBERS = {"number", "integer", "probability"}


@metric(kinds=NUMBERS, columns="any")
def pearson_corrcoef(y_true: FloatArray, y_pred: FloatArray) -> float:
    """Pearson's r, from -1 to 1: how linear the relation is.

    Raises:
        ValueError: the answers are constant.

    >>> pearson_corrcoef(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    return mean_over_columns(_pearson, y_true, y_pred)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The ranks of each column."""

    columns: list[FloatArray]


def _ranked(values: FloatArray) -> _Ranked:
    return _Ranked([_ranks(column) for column in values.reshape(len(values), -1).T])


@metric(kinds=NUMBERS, columns="any", prepare=_ranked)
def spearman_corrcoef(y_true: FloatArray | _Ranked, y_pred: FloatArray) -> float:
    """Spearman's rho, from -1 to 1: Pearson's r of the ranks, tied values sharing their mean rank.

    Raises:
        ValueError: the answers are constant.

    >>> spearman_corrcoef(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 99.0]))
    1.0
    """
    true = y_true if isinstance(y_true, _Ranked) else _ranked(y_true)
    pairs = zip(true.columns, _ranked(y_pred).columns, strict=True)
    return sum((_pearson(a, b) for a, b in pairs), start=0.0) / len(true.columns)


def _pearson(y_true: FloatArray, y_pred: FloatArray) -> float:
    if y_true.min() == y_true.max():
        raise ValueError("a correlation is undefined: the answers are constant")
    if y_pred.min() == y_pred.max():
        return 0.0
    a, b = _centred(y_true), _centred(y_pred)
    # In this order a correlation of a column with itself is 1, to the last bit.
    return max(-1.0, min(1.0, float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))))


def _centred(values: FloatArray) -> FloatArray:
    """The values less their mean, times a number. They are not all equal."""
    # Twice: scaled first so that no sum of huge numbers overflows, and again so that no square of
    # tiny differences vanishes; centred again because the first mean was rounded.
    for _ in range(2):
        values, _ = scaled(values)
        values -= values.mean()
    return values


def _ranks(values: FloatArray) -> FloatArray:
    """The ranks from 1, tied values sharing their mean rank.

    >>> _ranks(np.array([30.0, 10.0, 10.0]))
    array([3. , 1.5, 1.5])
    """
    order = np.argsort(values)
    ascending = values[order]
    is_first = np.empty(len(values), dtype=bool)
    is_first[0] = True
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    bounds = np.append(np.flatnonzero(is_first), len(values))
    mean_rank = (bounds[:-1] + bounds[1:] + 1) / 2
    ranks = np.empty(len(values))
    ranks[order] = mean_rank[np.cumsum(is_first) - 1]
    return ranks
