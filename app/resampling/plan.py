"""How a score is computed from the number of times that each row of the test set is drawn.

Rows that a metric cannot distinguish make one cell, for example the correct and the wrong
predictions. A plan computes many scores at once from the number of drawn rows in each cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.metrics.arrays import FloatArray, IntArray

# Weights (resamples, cells) to scores (resamples,). NaN where the metric is undefined.
Scores = Callable[[FloatArray], FloatArray]
# Totals (resamples, values) and the rows of a resample to scores.
Combine = Callable[[FloatArray, int], FloatArray]
Sums = Callable[[FloatArray], FloatArray]  # weights (resamples, cells) to (resamples, groups)
DENSE = 1 << 16  # entries of a table of zeros and ones, up to which sums are products of matrices
WIDTH = 20  # mean cells of a group, from which adding up neighbours is faster than counting


@dataclass(frozen=True, slots=True)
class Plan:
    """`rows` rows in `cells` cells; `cell_of_row` is None if each row is a cell.

    `score` takes the number of drawn rows in each cell, (resamples, cells), as float64. The numbers
    of a resample add up to `rows`.
    """

    rows: int
    cells: int
    cell_of_row: IntArray | None
    score: Scores

    def counts(self) -> IntArray:
        """The rows of each cell."""
        if self.cell_of_row is None:
            return np.ones(self.rows, dtype=np.int64)
        return np.bincount(self.cell_of_row, minlength=self.cells)

    def of_rows(self, weights: FloatArray) -> FloatArray:
        """The scores of weights (resamples, rows) of rows instead of cells."""
        if self.cell_of_row is None:
            return self.score(weights)
        found = [np.bincount(self.cell_of_row, row, minlength=self.cells) for row in weights]
        return self.score(np.stack(found))


def sums_plan(values: NDArray[Any], combine: Combine, *, merge: bool = False) -> Plan:
    """A plan of a score that follows from sums over rows of `values`, (rows,) or (rows, k).

    With `merge`, rows of equal values become one cell: use it if there are few different values.
    """
    table = np.asarray(values, dtype=np.float64)
    rows = len(table)
    table = table.reshape(rows, -1)
    cell_of_row = None
    if merge:
        table, cell_of_row = merged(table)

    def score(weights: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # the largest doubles may be among the values
            return combine(weights @ table, rows)

    return Plan(rows, len(table), cell_of_row, score)


def mean_plan(values: NDArray[Any], *, merge: bool = False) -> Plan:
    """A plan of the mean over rows."""
    return sums_plan(values, lambda totals, rows: totals[:, 0] / rows, merge=merge)


def merged(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """The different rows of a table, and which of them each row is.

    >>> merged(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))[1]
    array([1, 0, 1])
    """
    cell = np.zeros(len(table), dtype=np.int64)
    # Column by column: sorting numbers is much faster than sorting rows.
    for column in table.T:
        found, codes = np.unique(column, return_inverse=True)
        _, cell = np.unique(cell * len(found) + codes, return_inverse=True)
    first = np.zeros(int(cell.max()) + 1, dtype=np.int64)
    first[cell] = np.arange(len(table))
    return table[first], cell


def group_sums(group: IntArray, groups: int) -> Sums:
    """A function that adds up the columns of weights by the group of each column.

    >>> group_sums(np.array([0, 1, 0]), 2)(np.array([[1.0, 2.0, 3.0]]))
    array([[4., 2.]])
    """
    if len(group) * groups <= DENSE:
        table = np.zeros((len(group), groups))
        table[np.arange(len(group)), group] = 1.0
        return lambda weights: weights @ table
    if groups * WIDTH > len(group):
        return lambda weights: np.stack(
            [np.bincount(group, row, minlength=groups) for row in weights]
        )
    order = np.argsort(group, kind="stable")
    present, starts = np.unique(group[order], return_index=True)
    is_sorted = np.array_equal(order, np.arange(len(group)))

    def add(weights: FloatArray) -> FloatArray:
        in_order = weights if is_sorted else np.take(weights, order, axis=1, mode="clip")
        found = np.zeros((len(weights), groups))
        found[:, present] = np.add.reduceat(in_order, starts, axis=1)
        return found

    return add


def share(part: NDArray[Any], whole: NDArray[Any], *, otherwise: float = np.nan) -> FloatArray:
    """One divided by the other; `otherwise` if the denominator is 0.

    >>> share(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    found = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), otherwise)
    np.divide(part, whole, out=found, where=np.asarray(whole) != 0)
    return found


def by_column(
    plan: Callable[[FloatArray, FloatArray], Plan], y_true: FloatArray, y_pred: FloatArray
) -> Plan:
    """The plan of one column, or of the mean of several columns, whose rows are drawn together."""
    if y_true.ndim == 1:
        return plan(y_true, y_pred)
    rows, count = y_true.shape
    plans = [plan(y_true[:, j], y_pred[:, j]) for j in range(count)]

    def score(weights: FloatArray) -> FloatArray:
        found = np.zeros(len(weights))
        for each in plans:
            found += each.of_rows(weights) / count
        return found

    return Plan(rows, rows, None, score)
