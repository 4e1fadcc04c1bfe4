"""Metrics of labelled points and boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.domain.columns import BoxesColumn
from app.domain.form import SubmissionForm
from app.metrics.arrays import BoolArray, Boxes
from app.metrics.registry import metric

POINT = ("label", "x", "y")
BOX = (*POINT, "width", "height")


def _needs_points(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    return [
        f"point_in_box_f1_score needs the fields {', '.join(POINT)} in column {name!r}"
        for name, column in form.columns.items()
        if isinstance(column, BoxesColumn) and column.fields[:3] != POINT
    ]


@metric(kinds={"boxes"}, check=_needs_points)
def point_in_box_f1_score(y_true: Boxes, y_pred: Boxes) -> float:
    """F1 of labelled points that are to lie in labelled boxes, all rows pooled.

    The answers are boxes with the fields label, x, y (of the upper left corner), width and height,
    the submission points with label, x and y. In the order of the answers, each box takes the
    first point that is still free, has its label and lies strictly inside. As in Kaggle's
    Kuzushiji Recognition.

    Raises:
        ValueError: the answers hold no box.

    >>> boxes = Boxes(np.array([[7.0, 0, 0, 4, 4]]), np.array([0, 1]), BOX)
    >>> points = Boxes(np.array([[7.0, 1, 1], [7.0, 0, 0]]), np.array([0, 2]), POINT)
    >>> round(point_in_box_f1_score(boxes, points), 6)
    0.666667
    """
    if not len(y_true.values):
        raise ValueError("F1 is undefined: the answers hold no box")
    found = 0
    for row in range(len(y_true)):
        boxes = y_true.values[y_true.offsets[row] : y_true.offsets[row + 1]]
        points = y_pred.values[y_pred.offsets[row] : y_pred.offsets[row + 1]]
        if len(boxes) and len(points):
            found += _matched(_inside(boxes, points))
    return 2 * found / (len(y_true.values) + len(y_pred.values))


def _inside(boxes: Any, points: Any) -> BoolArray:
    """For each box and point, whether the point has the box's label and lies inside it."""
    label, left, top, width, height = (boxes[:, place, None] for place in range(5))
    x, y = points[None, :, 1], points[None, :, 2]
    inside: BoolArray = (label == points[None, :, 0]) & (left < x) & (x < left + width)
    inside &= (top < y) & (y < top + height)
    return inside


def _matched(inside: BoolArray) -> int:
    """How many boxes find a point when each takes the first that is still free."""
    free = np.ones(inside.shape[1], dtype=bool)
    for candidates in inside[inside.any(axis=1)]:
        left = candidates & free
        free[np.argmax(left)] &= not left.any()
    return int(np.count_nonzero(~free))
