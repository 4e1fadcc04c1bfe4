"""Numbering the classes that occur, from 0 in ascending order."""

from __future__ import annotations

import numpy as np

from app.metrics.arrays import FloatArray, IntArray

Classes = FloatArray | IntArray


def code_classes(y_true: Classes, y_pred: Classes) -> tuple[IntArray, IntArray, int]:
    """Both columns in codes of the classes that occur in either, and how many those are.

    >>> code_classes(np.array([10, 30, 30]), np.array([30, 10, 20]))
    (array([0, 2, 2]), array([2, 0, 1]), 3)
    """
    low = min(y_true.min(), y_pred.min())
    span = float(max(y_true.max(), y_pred.max())) - float(low)
    # Mostly classes are few small integers: then a table does it, and nothing need be sorted.
    if span <= 2 * len(y_true) + 1000:
        t, p = (y_true - low).astype(np.int64), (y_pred - low).astype(np.int64)
        if np.array_equal(t + low, y_true) and np.array_equal(p + low, y_pred):
            size = int(span) + 1
            occurs = np.bincount(t, minlength=size) + np.bincount(p, minlength=size) > 0
            classes = int(np.count_nonzero(occurs))
            if classes == size:
                return t, p, classes
            codes = np.cumsum(occurs) - 1
            return codes[t], codes[p], classes
    found, both = np.unique(np.concatenate([y_true, y_pred]), return_inverse=True)
    return both[: len(y_true)], both[len(y_true) :], len(found)


def code_by_labels(
    y_true: Classes, y_pred: Classes, labels: list[int]
) -> tuple[IntArray, IntArray, int]:
    """Both columns in places of the given labels.

    Raises:
        ValueError: a value is not among the labels.

    >>> code_by_labels(np.array([1, 5]), np.array([5, 5]), [5, 3, 1])
    (array([2, 0]), array([0, 0]), 3)
    """
    ascending = np.sort(labels)
    order = np.argsort(labels)

    def place(values: Classes) -> IntArray:
        found = np.minimum(np.searchsorted(ascending, values), len(labels) - 1)
        if not (ascending[found] == values).all():
            raise ValueError("a value is not among the labels")
        return order[found]

    return place(y_true), place(y_pred), len(labels)
