"""Overlap of masks, computed on their runs: no pixel is ever unpacked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.metrics.arrays import IntArray, Masks, row_of_each, sum_by_row
from app.metrics.registry import metric

IOU_THRESHOLDS = np.arange(0.5, 1.0, 0.05)


@metric(kinds={"mask"})
def dice_score(
    y_true: Masks,
    y_pred: Masks,
    *,
    average: Literal["samples", "micro"] = "samples",
    smooth: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0,
) -> float:
    """The mean over rows of 2 |A ∩ B| / (|A| + |B|); 1 where both masks are empty.

    With `micro` the pixels of all rows are counted together. `smooth` is added above and below
    the fraction line, as losses of neural networks do.

    >>> row = np.array([0, 1])
    >>> dice_score(Masks(np.array([0]), np.array([4]), row, 9),
    ...            Masks(np.array([2]), np.array([4]), row, 9))
    0.5
    """
    shared, total = shared_and_total(y_true, y_pred)
    if average == "micro":
        size = int(total.sum()) + smooth
        return (2 * int(shared.sum()) + smooth) / size if size else 1.0
    return _mean_ratio(2 * shared + smooth, total + smooth)


@metric(kinds={"mask"})
def jaccard_score(y_true: Masks, y_pred: Masks) -> float:
    """The mean over rows of |A ∩ B| / |A ∪ B|, also called IoU; 1 where both masks are empty.

    >>> row = np.array([0, 1])
    >>> jaccard_score(Masks(np.array([0]), np.array([3]), row, 9),
    ...               Masks(np.array([2]), np.array([2]), row, 9))
    0.25
    """
    shared, total = shared_and_total(y_true, y_pred)
    return _mean_ratio(shared, total - shared)


@metric(kinds={"mask"})
def mask_fbeta_score(
    y_true: Masks, y_pred: Masks, *, beta: Annotated[float, Field(gt=0, le=1e100)] = 1.0
) -> float:
    """The mean over rows of the pixels' F-beta; below 1, `beta` makes precision weigh more.

    (1 + beta²) true / ((1 + beta²) true + beta² missed + falsely marked); 0 where no marked pixel
    is true, so also where both masks are empty.

    Raises:
        ValueError: all masks of the answers are empty.

    >>> row = np.array([0, 1])
    >>> mask_fbeta_score(Masks(np.array([0]), np.array([4]), row, 9),
    ...                  Masks(np.array([2]), np.array([2]), row, 9), beta=0.5)
    0.8333333333333334
    """
    if not len(y_true.starts):
        raise ValueError("F-beta is undefined: all masks of the answers are empty")
    shared, total = shared_and_total(y_true, y_pred)
    true = sum_by_row(y_true.lengths, y_true.offsets)
    square = float(beta) ** 2  # a whole number would be multiplied in int64, and overflow
    scores = (1.0 + square) * shared
    # Missed, falsely marked and found pixels together: beta² |A| + |B|.
    scores = np.divide(scores, square * true + (total - true), out=scores, where=shared > 0)
    return float(scores.sum()) / len(scores)


@metric(kinds={"mask"})
def mean_iou_precision_score(y_true: Masks, y_pred: Masks) -> float:
    """The mean over rows of the share of ten IoU thresholds, 0.5 to 0.95, that a mask exceeds.

    A row scores 1 where both masks are empty and 0 where one is. As in Kaggle's TGS Salt
    Identification.

    >>> row = np.array([0, 1])
    >>> mean_iou_precision_score(Masks(np.array([0]), np.array([4]), row, 9),
    ...                          Masks(np.array([0]), np.array([3]), row, 9))
    0.5
    """
    shared, total = shared_and_total(y_true, y_pred)
    union = total - shared
    iou = np.divide(shared, union, out=np.ones(len(union)), where=union > 0)
    return float((iou[:, None] > IOU_THRESHOLDS).sum()) / (len(IOU_THRESHOLDS) * len(iou))


def shared_and_total(a: Masks, b: Masks) -> tuple[IntArray, IntArray]:
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


def _mean_ratio(part: NDArray[Any], total: NDArray[Any]) -> float:
    ratios = np.divide(part, total, out=np.ones(len(total)), where=total > 0)
    return float(ratios.sum()) / len(ratios)
