"""Metrics of ranked lists."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from app.metrics.arrays import IntArray, Lists, row_of_each
from app.metrics.registry import metric


@metric(kinds={"list"})
def mean_average_precision_at_k_score(
    y_true: Lists, y_pred: Lists, *, k: Annotated[int, Field(ge=1)]
) -> float:
    """The mean over rows of the average precision of the first `k` ranked items (MAP@k).

    A row's average precision is the sum of the precision at each hit, divided by the number of
    distinct relevant items or `k`, whichever is less. A repeated item is a hit only once; a row
    without relevant items counts 0. Source: Manning et al., Introduction to Information
    Retrieval, section 8.4, cut at `k` as Kaggle does.

    Raises:
        ValueError: no row of the answers has a relevant item.

    >>> relevant = Lists(np.array([1, 2]), np.array([0, 2]))
    >>> ranked = Lists(np.array([2, 9, 1]), np.array([0, 3]))
    >>> mean_average_precision_at_k_score(relevant, ranked, k=2)
    0.5
    """
    rows = len(y_true)
    items = max(y_true.codes.max(initial=0), y_pred.codes.max(initial=0)) + 1
    # One number for "this item in this row", so that all rows are matched at once.
    relevant = np.unique(row_of_each(y_true.offsets) * items + y_true.codes)
    if not len(relevant):
        raise ValueError("MAP@k is undefined: no row of the answers has a relevant item")
    row = row_of_each(y_pred.offsets)
    place = np.arange(len(row), dtype=np.int64) - y_pred.offsets[row]
    within = place < k
    row, place, codes = row[within], place[within], y_pred.codes[within]
    hits = _first_hits(row * items + codes, relevant)
    row, place = row[hits], place[hits]
    # The rank of a hit among the hits of its row: rows ascend, so each row's first is searched.
    rank = np.arange(len(row), dtype=np.int64) - np.searchsorted(row, row) + 1
    sums = np.bincount(row, weights=rank / (place + 1), minlength=rows)
    possible = np.minimum(np.bincount(relevant // items, minlength=rows), k)
    return float((sums / np.maximum(possible, 1)).sum()) / rows


def _first_hits(ranked: IntArray, relevant: IntArray) -> IntArray:
    """Where an item of `ranked` is in `relevant` (ascending) for the first time, ascending."""
    found = np.minimum(np.searchsorted(relevant, ranked), len(relevant) - 1)
    is_hit = relevant[found] == ranked
    hits = np.flatnonzero(is_hit)
    _, first = np.unique(found[hits], return_index=True)
    first.sort()
    return hits[first]
