"""Overlap of masks, computed on their runs: no pixel is ever unpacked."""

from __future__ import annotations

import numpy as np

from app.metrics.arrays import IntArray, Masks, row_of_each, sum_by_row
from app.metrics.registry import metric


@metric(kinds={"mask"})
def dice_score(y_true: Masks, y_pred: Masks) -> float:
    """The mean over rows of 2 |A ∩ B| / (|A| + |B|); 1 where both masks are empty.

    >>> row = np.array([0, 1])
    >>> dice_score(Masks(np.array([0]), np.array([4]), row, 9),
    ...            Masks(np.array([2]), np.array([4]), row, 9))
    0.5
    """
    shared, total = _shared_and_total(y_true, y_pred)
    return _mean_ratio(2 * shared, total)


@metric(kinds={"mask"})
def jaccard_score(y_true: Masks, y_pred: Masks) -> float:
    """The mean over rows of |A ∩ B| / |A ∪ B|, also called IoU; 1 where both masks are empty.

    >>> row = np.array([0, 1])
    >>> jaccard_score(Masks(np.array([0]), np.array([3]), row, 9),
    ...               Masks(np.array([2]), np.array([2]), row, 9))
    0.25
    """
    shared, total = _shared_and_total(y_true, y_pred)
    return _mean_ratio(shared, total - shared)


def _shared_and_total(a: Masks, b: Masks) -> tuple[IntArray, IntArray]:
    """For each row |A ∩ B| and |A| + |B|, in pixels."""
    total = sum_by_row(a.lengths, a.offsets) + sum_by_row(b.lengths, b.offsets)
    if not len(b.starts):
        return np.zeros_like(total), total
    # All masks are laid end to end on one line of pixels, so that all rows are done at once.
    starts = a.starts + row_of_each(a.offsets) * a.pixels
    b_starts = b.starts + row_of_each(b.offsets) * b.pixels
    before = np.cumsum(b.lengths) - b.lengths

    def set_before(places: IntArray) -> IntArray:
        """How many pixels of B come before each place on the line."""
        run = np.searchsorted(b_starts, places, side="right") - 1
        within = np.minimum(places - b_starts[run], b.lengths[run])
        return np.where(run >= 0, before[run] + within, 0)

    return sum_by_row(set_before(starts + a.lengths) - set_before(starts), a.offsets), total


def _mean_ratio(part: IntArray, whole: IntArray) -> float:
    ratios = np.divide(part, whole, out=np.ones(len(whole)), where=whole > 0)
    return float(ratios.sum()) / len(ratios)
