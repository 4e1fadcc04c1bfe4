"""Spearman's correlation of drawn rows: mean ranks, for many resamples at once.

In a running sum, each step depends on the one before. So the values are arranged in a table, with
neighbours one row apart, and complete rows are added at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.metrics.arrays import FloatArray, IntArray
from app.resampling.plan import Plan, group_sums, share

TABLE_ROWS = 16
# Up to this number of rows, ranks and their halves are exact as float32, with half the memory.
MOST_FLOAT32 = 1 << 22
Ranks = NDArray[np.floating[Any]]
# The weights of cells, and the same in fewer bytes, to ranks at the cells, and their spread.
Ranking = Callable[[FloatArray, Ranks], tuple[Ranks, FloatArray]]


def spearman_plan(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """The plan of `spearman_corrcoef` of one column. The drawn rows are ranked again."""
    values, a = np.unique(y_true, return_inverse=True)
    predictions, b = np.unique(y_pred, return_inverse=True)
    a, b = places(len(values))[a], places(len(predictions))[b]
    rows = len(y_true)
    pairs, cell_of_row = _cells(a * len(predictions) + b)
    of_a, of_b = np.divmod(pairs, len(predictions))
    rank_a = _ranking(of_a, len(values), rows)
    rank_b = _ranking(of_b, len(predictions), rows)

    kind: type[np.floating[Any]] = np.float32 if rows <= MOST_FLOAT32 else np.float64

    def score(weights: FloatArray) -> FloatArray:
        short = weights.astype(kind, copy=False)
        (at_a, spread_a), (at_b, spread_b) = rank_a(weights, short), rank_b(weights, short)
        at_a *= short
        at_a *= at_b
        return correlation(at_a.sum(axis=1, dtype=np.float64), spread_a, spread_b)

    return Plan(rows, len(pairs), cell_of_row, score)


def _cells(pair: IntArray) -> tuple[IntArray, IntArray]:
    """The sorted pairs of values that make cells, and the cell of each row."""
    order = np.argsort(pair)
    in_order = pair[order]
    is_new = np.concatenate([[True], in_order[1:] != in_order[:-1]])
    if is_new.sum() > len(pair) / 2:  # adding up the weights of so few equal rows takes longer
        is_new[:] = True
    cell_of_row = np.empty_like(order)
    cell_of_row[order] = np.cumsum(is_new) - 1
    return in_order[is_new], cell_of_row


def places(count: int) -> IntArray:
    """The positions of `count` values in the layout of `mean_ranks`: a table, then the remainder.

    >>> places(35)[[0, 1, 2, 15, 16, 17, 31, 32, 33, 34]]
    array([ 0,  2,  4, 30,  1,  3, 31, 32, 33, 34])
    """
    columns = count // TABLE_ROWS
    found = np.arange(count)
    column, row = np.divmod(found[: columns * TABLE_ROWS], TABLE_ROWS)
    found[: columns * TABLE_ROWS] = row * columns + column
    return found


def mean_ranks(drawn: Ranks, rows: int) -> Ranks:
    """The mean rank of each value, less the mean of all, by how often the values were drawn.

    `drawn` is (resamples, values), its values at their `places`; each resample adds up to `rows`.

    >>> mean_ranks(np.array([[1.0, 2.0, 0.0, 1.0]]), 4)
    array([[-1.5,  0. ,  1. ,  1.5]])
    """
    found = np.empty_like(drawn)
    resamples, count = drawn.shape
    columns = count // TABLE_ROWS
    end = columns * TABLE_ROWS
    before = np.full((resamples, 1), -rows / 2, dtype=drawn.dtype)
    if columns:
        table = drawn[:, :end].reshape(resamples, TABLE_ROWS, columns)
        sums = found[:, :end].reshape(resamples, TABLE_ROWS, columns)
        sums[:, 0] = table[:, 0]
        for row in range(1, TABLE_ROWS):
            np.add(sums[:, row - 1], table[:, row], out=sums[:, row])
        of_column = sums[:, -1].copy()
        after = np.cumsum(of_column, axis=1) + before
        sums += (after - of_column)[:, None]
        before = after[:, -1:]
    found[:, end:] = np.cumsum(drawn[:, end:], axis=1) + before
    found -= drawn * drawn.dtype.type(0.5)
    return found


def _ranking(value: IntArray, values: int, rows: int) -> Ranking:
    """Rank cells whose values are `value`, that many different ones at their `places`."""
    if values < len(value):
        add = group_sums(value, values)

        def with_ties(weights: FloatArray, short: Ranks) -> tuple[Ranks, FloatArray]:
            drawn = add(weights)
            found = mean_ranks(drawn.astype(short.dtype, copy=False), rows)
            return np.take(found, value, axis=1, mode="clip"), _rank_spread(drawn, rows)

        return with_ties
    order = np.argsort(value)
    is_in_order = np.array_equal(order, np.arange(values))

    def without_ties(weights: FloatArray, short: Ranks) -> tuple[Ranks, FloatArray]:
        spread = _rank_spread(weights, rows)
        if is_in_order:
            return mean_ranks(short, rows), spread
        found = mean_ranks(np.take(short, order, axis=1, mode="clip"), rows)
        return np.take(found, value, axis=1, mode="clip"), spread

    return without_ties


def _rank_spread(drawn: FloatArray, rows: int) -> FloatArray:
    """The sum of squared mean ranks about their mean, by how often each value was drawn.

    Source: M. G. Kendall, Rank Correlation Methods (1948), section 3.7, the correction for ties.
    """
    cubes = np.einsum("ij,ij,ij->i", drawn, drawn, drawn)
    spread: FloatArray = (float(rows) ** 3 - cubes) / 12.0
    return spread


def correlation(covariance: FloatArray, spread_a: FloatArray, spread_b: FloatArray) -> FloatArray:
    """Covariance divided by spreads: 0 for constant predictions, NaN for constant answers."""
    found = share(covariance, np.sqrt(spread_a) * np.sqrt(spread_b), otherwise=0.0)
    return np.where(spread_a > 0, np.clip(found, -1.0, 1.0), np.nan)
