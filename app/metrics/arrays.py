"""The arrays that metrics receive, with one entry per row.

Numbers, labels and texts are NumPy arrays. Cells that hold several things are kept flat: the
things of all rows one after another, and `offsets` of length n + 1, so that row i owns the
things from `offsets[i]` up to `offsets[i + 1]`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
TextArray = npt.NDArray[np.object_]

LARGEST = sys.float_info.max
EPSILON = float(np.finfo(np.float64).eps)
_MOST_EXPONENT = 1000  # a power of two that is far from the ends of the range


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """A list of items in every row: `codes` int64 (m,), `offsets` int64 (n + 1,).

    Equal items have equal codes, in the answers and the submission alike.

    >>> Lists(np.array([7, 8, 9]), np.array([0, 2, 2, 3])).take(np.array([2, 0])).codes
    array([9, 7, 8])
    """

    codes: IntArray
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: IntArray) -> Lists:
        """The given rows, in the given order."""
        things, offsets = _gather(self.offsets, rows)
        return Lists(self.codes[things], offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Masks:
    """A mask in every row, as runs of pixels: `starts` (from 0) and `lengths` int64 (m,).

    The runs of a row ascend and do not overlap; every mask has `pixels` pixels.
    """

    starts: IntArray
    lengths: IntArray
    offsets: IntArray
    pixels: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: IntArray) -> Masks:
        """The given rows, in the given order."""
        things, offsets = _gather(self.offsets, rows)
        return Masks(self.starts[things], self.lengths[things], offsets, self.pixels)


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Boxes in every row: `values` float64 (m, f), one column for each of the `fields`."""

    values: FloatArray
    offsets: IntArray
    fields: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: IntArray) -> Boxes:
        """The given rows, in the given order."""
        things, offsets = _gather(self.offsets, rows)
        return Boxes(self.values[things], offsets, self.fields)


def row_of_each(offsets: IntArray) -> IntArray:
    """The row that each flat entry belongs to.

    >>> row_of_each(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def items_in_rows(lists: Lists, items: int) -> IntArray:
    """One number for "this item in this row", where codes are below `items`; each once, ascending.

    >>> items_in_rows(Lists(np.array([2, 0, 2, 1]), np.array([0, 3, 4])), 3)
    array([0, 2, 4])
    """
    numbers = row_of_each(lists.offsets)
    numbers *= items
    numbers += lists.codes
    return distinct(numbers)


def sum_by_row(values: IntArray, offsets: IntArray) -> IntArray:
    """The sum of each row's entries, 0 for a row without any.

    >>> sum_by_row(np.array([5, 6, 7]), np.array([0, 2, 2, 3]))
    array([11,  0,  7])
    """
    running = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=running[1:])
    return running[offsets[1:]] - running[offsets[:-1]]


def distinct(values: IntArray) -> IntArray:
    """The distinct values, ascending. Sorts: NumPy's hashing is slow where values are regular.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ascending = np.sort(values)
    is_first = np.ones(len(ascending), dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]


def mean_over_columns(function: Callable[[Any, Any], float], y_true: Any, y_pred: Any) -> float:
    """`function` of one column, or the mean of its values for each of several columns."""
    if y_true.ndim == 1:
        return function(y_true, y_pred)
    count: int = y_true.shape[1]
    # Divided before adding, and held in range: the mean of huge but finite values is finite.
    mean = sum((function(y_true[:, j], y_pred[:, j]) / count for j in range(count)), start=0.0)
    return max(-LARGEST, min(LARGEST, mean))


def scaled(values: FloatArray) -> tuple[FloatArray, int]:
    """The values times a power of two, so that no sum of squares leaves the range; its exponent.

    No value is rounded, unless it is tiny beside the largest. So large numbers keep the differences
    between them, of which a division would leave little.

    >>> scaled(np.array([3.0, -6.0]))
    (array([ 0.375, -0.75 ]), -3)
    """
    exponent = -int(np.frexp(max(float(values.max()), -float(values.min())))[1])
    exponent = max(-_MOST_EXPONENT, min(exponent, _MOST_EXPONENT))
    return values * math.ldexp(1.0, exponent), exponent


def _gather(offsets: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The flat places of the things in `rows`, and the offsets they then have."""
    new = np.zeros(len(rows) + 1, dtype=np.int64)
    counts = np.diff(offsets)[rows]
    np.cumsum(counts, out=new[1:])
    shift = np.repeat(offsets[:-1][rows] - new[:-1], counts)
    return np.arange(new[-1], dtype=np.int64) + shift, new
