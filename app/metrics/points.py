"""Metrics of labelled points and boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.domain.columns import BoxesColumn
from app.domain.form import SubmissionForm
from app.metrics.arrays import Boxes, FloatArray, IntArray, row_of_each
from app.metrics.registry import metric

POINT = ("label", "x", "y")
BOX = (*POINT, "width", "height")
MANY_PAIRS = 2_000_000  # of boxes and points in memory at once; beyond that, row by row
MANY_IN_ROW = 1_000_000  # pairs of a row; beyond that, each box looks at cells and not at points
MOST_CELLS = 8_000_000  # of a row's boxes with one label


def _needs_points(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    return [
        f"point_in_box_f1_score needs the fields {', '.join(POINT)} in column {name!r}"
        for name, column in form.columns.items()
        if isinstance(column, BoxesColumn) and column.fields[:3] != POINT
    ]


@metric(kinds={"boxes"}, check=_needs_points)
def point_in_box_f1_score(y_true: Boxes, y_pred: Boxes) -> float:
    """F1 of labelled points, found if they are inside boxes with their label, all rows pooled.

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
    found = len(rows_of_found(y_true, y_pred))
    return 2 * found / (len(y_true.values) + len(y_pred.values))


def rows_of_found(y_true: Boxes, y_pred: Boxes) -> IntArray:
    """The row of each box that finds a point, in any order."""
    pairs = _pairs_inside(y_true, y_pred)
    if pairs is None:
        return _found_row_by_row(y_true, y_pred)
    return row_of_each(y_true.offsets)[_found_in_pairs(*pairs)]


def _pairs_inside(y_true: Boxes, y_pred: Boxes) -> tuple[IntArray, IntArray] | None:
    """Every box with every point of its label inside it, in order; None if that would be many."""
    row, point_row = row_of_each(y_true.offsets), row_of_each(y_pred.offsets)
    box, point = y_true.values, y_pred.values
    by_label = np.lexsort((point[:, 0], point_row))
    labels, place = np.unique(np.append(box[:, 0], point[:, 0]), return_inverse=True)
    keys = row * len(labels) + place[: len(box)]
    point_keys = (point_row * len(labels) + place[len(box) :])[by_label]
    first = np.searchsorted(point_keys, keys, "left")
    counts = np.searchsorted(point_keys, keys, "right") - first
    total = int(counts.sum())
    if total > MANY_PAIRS:
        return None
    left = np.repeat(np.arange(len(keys), dtype=np.int64), counts)
    before = np.cumsum(counts) - counts
    right = by_label[np.arange(total) - np.repeat(before - first, counts)]
    x, y = point[right, 1], point[right, 2]
    is_inside = (box[left, 1] < x) & (x < box[left, 1] + box[left, 3])
    is_inside &= (box[left, 2] < y) & (y < box[left, 2] + box[left, 4])
    return left[is_inside], right[is_inside]


def _found_in_pairs(boxes: IntArray, points: IntArray) -> IntArray:
    """The boxes that find a point when each takes the first of its pairs that is still free."""
    if not len(boxes):
        return boxes
    alone = (np.bincount(boxes)[boxes] == 1) & (np.bincount(points)[points] == 1)
    done: set[int] = set()
    taken: set[int] = set()
    for box, point in zip(boxes[~alone].tolist(), points[~alone].tolist(), strict=True):
        if box not in done and point not in taken:
            done.add(box)
            taken.add(point)
    return np.append(boxes[alone], np.array(sorted(done), dtype=np.int64))


def _found_row_by_row(y_true: Boxes, y_pred: Boxes) -> IntArray:
    """`rows_of_found` with the pairs of one row at a time in memory."""
    found = np.zeros(len(y_true), dtype=np.int64)
    for row in range(len(y_true)):
        boxes = y_true.values[y_true.offsets[row] : y_true.offsets[row + 1]]
        points = y_pred.values[y_pred.offsets[row] : y_pred.offsets[row + 1]]
        if len(boxes) * len(points) > MANY_IN_ROW:
            found[row] = _matched_by_label(boxes, points)
        elif len(boxes) and len(points):
            found[row] = _matched(boxes, points)
    return np.repeat(np.arange(len(y_true), dtype=np.int64), found)


def _matched(boxes: FloatArray, points: FloatArray) -> int:
    free = np.ones(len(points), dtype=bool)
    for label, x, y, width, height in boxes[:, :5]:
        inside = free & (points[:, 0] == label)
        inside &= (x < points[:, 1]) & (points[:, 1] < x + width)
        inside &= (y < points[:, 2]) & (points[:, 2] < y + height)
        place = int(np.argmax(inside))
        free[place] &= not inside[place]
    return int(np.count_nonzero(~free))


def _matched_by_label(boxes: FloatArray, points: FloatArray) -> int:
    """The same as `_matched`, in a time that hardly grows with boxes times points."""
    order = np.argsort(points[:, 0], kind="stable")
    labels = points[order, 0]
    found = 0
    for label in np.unique(boxes[:, 0]).tolist():
        start, end = np.searchsorted(labels, label, "left"), np.searchsorted(labels, label, "right")
        if start < end:
            found += _matched_in_cells(boxes[boxes[:, 0] == label], points[order[start:end]])
    return found


def _matched_in_cells(boxes: FloatArray, points: FloatArray) -> int:
    """The same as `_matched`, for boxes and points of one label.

    The edges of the boxes cut the plane into cells. All points of a cell are inside the same
    boxes, so a box looks at the first free point of each of its cells.
    """
    across, x, width = _in_cells(boxes[:, 1], boxes[:, 1] + boxes[:, 3], points[:, 1])
    down, y, height = _in_cells(boxes[:, 2], boxes[:, 2] + boxes[:, 4], points[:, 2])
    if width * height > MOST_CELLS:
        return _matched(boxes, points)
    cells = x * height + y
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    firsts = np.flatnonzero(np.diff(cells, prepend=-1))
    free = np.full(width * height, len(points), dtype=np.int64)  # the first one of each cell
    free[cells[firsts]] = order[firsts]
    table = free.reshape(width, height)
    position: dict[int, int] = {}
    found = 0
    for (left, right), (top, bottom) in zip(across.tolist(), down.tolist(), strict=True):
        window = table[left:right, top:bottom]
        if not window.size or window.min() == len(points):
            continue
        column, row = divmod(int(window.argmin()), window.shape[1])
        cell = (left + column) * height + top + row
        place = position.get(cell, int(np.searchsorted(cells, cell))) + 1
        position[cell] = place
        is_last = place == len(cells) or cells[place] != cell
        free[cell] = len(points) if is_last else order[place]
        found += 1
    return found


def _in_cells(
    low: FloatArray, high: FloatArray, points: FloatArray
) -> tuple[IntArray, IntArray, int]:
    """Along one axis: the first cell of each box and the one after its last, and each point's.

    Also the number of cells. An edge is a cell of its own, because it is not inside.
    """
    edges = np.unique(np.append(low, high))
    ends = np.stack([np.searchsorted(edges, low) + 1, np.searchsorted(edges, high)], axis=1)
    inside = np.searchsorted(edges, points, "left") + np.searchsorted(edges, points, "right")
    return 2 * ends + [0, 1], inside, 2 * len(edges) + 1
