"""Metrics of ranked lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from app.domain.columns import ListColumn
from app.domain.form import SubmissionForm
from app.metrics.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    Lists,
    items_in_rows,
    row_of_each,
)
from app.metrics.registry import metric

_LONG = 1500  # items of a row, up to which each pair is looked at
_CELLS = 1 << 18  # of rows compared at once: a table that fits into the processor's cache


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
    precisions = average_precisions(y_true, y_pred, k)
    return float(precisions.sum()) / len(precisions)


def average_precisions(y_true: Lists, y_pred: Lists, k: int) -> FloatArray:
    """The average precision at `k` of each row.

    Raises:
        ValueError: no row of the answers has a relevant item.
    """
    rows = len(y_true)
    items = max(y_true.codes.max(initial=0), y_pred.codes.max(initial=0)) + 1
    # All rows are matched at once.
    relevant = items_in_rows(y_true, items)
    if not len(relevant):
        raise ValueError("MAP@k is undefined: no row of the answers has a relevant item")
    row = row_of_each(y_pred.offsets)
    place = np.arange(len(row), dtype=np.int64)
    place -= y_pred.offsets[row]
    within = place < k
    row, place, codes = row[within], place[within], y_pred.codes[within]
    hits = _first_hits(row * items + codes, relevant)
    row, place = row[hits], place[hits]
    # The rank of a hit among the hits of its row: rows ascend, so each row's first is searched.
    rank = np.arange(len(row), dtype=np.int64) - np.searchsorted(row, row) + 1
    sums = np.bincount(row, weights=rank / (place + 1), minlength=rows)
    possible = np.minimum(np.bincount(relevant // items, minlength=rows), k)
    return sums / np.maximum(possible, 1)


@metric(kinds={"list"})
def top_k_error(y_true: Lists, y_pred: Lists, *, k: Annotated[int, Field(ge=1)]) -> float:
    """The share of rows whose first `k` ranked items have none of the answers' items.

    >>> relevant = Lists(np.array([1, 2]), np.array([0, 1, 2]))
    >>> top_k_error(relevant, Lists(np.array([1, 2, 9, 2]), np.array([0, 2, 4])), k=1)
    0.5
    """
    rows = len(y_true)
    return (rows - int(np.count_nonzero(rows_with_hit(y_true, y_pred, k)))) / rows


def rows_with_hit(y_true: Lists, y_pred: Lists, k: int) -> BoolArray:
    """Whether the first `k` ranked items of each row have one of the answers' items."""
    rows = len(y_true)
    items = max(y_true.codes.max(initial=0), y_pred.codes.max(initial=0)) + 1
    row = row_of_each(y_pred.offsets)
    within = np.arange(len(row), dtype=np.int64) - y_pred.offsets[row] < k
    row, codes = row[within], y_pred.codes[within]
    relevant = items_in_rows(y_true, items)
    has_hit = np.zeros(rows, dtype=bool)
    has_hit[row[_places_of_hits(row * items + codes, relevant)[0]]] = True
    return has_hit


def _orders_permutations(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    return [
        f"kendall_tau_corrcoef compares orders: declare permutation = true for column {name!r}"
        for name, column in form.columns.items()
        if isinstance(column, ListColumn) and not column.permutation
    ]


@metric(kinds={"list"}, check=_orders_permutations)
def kendall_tau_corrcoef(y_true: Lists, y_pred: Lists) -> float:
    """Kendall's tau between two orders of the same items, the pairs of all rows pooled.

    1 - 4 swaps / (the sum over rows of n (n - 1)), where swaps are the pairs of neighbours to be
    exchanged, one after another, to turn the one order into the other. As in Kaggle's AI4Code.

    Raises:
        ValueError: no row has two items, or a row's items are not those of the answers.

    >>> order = Lists(np.array([1, 2, 3]), np.array([0, 3]))
    >>> round(kendall_tau_corrcoef(order, Lists(np.array([2, 1, 3]), np.array([0, 3]))), 6)
    0.333333
    """
    counts = np.diff(y_true.offsets)
    pairs = int((counts * (counts - 1)).sum())
    if not pairs:
        raise ValueError("Kendall's tau is undefined: no row has two items")
    places = places_of_items(y_true, y_pred)
    if places is None:
        raise ValueError("a row's items are not those of the answers, each once")
    return 1.0 - 4 * _inversions(y_true.offsets, places) / pairs


def places_of_items(y_true: Lists, y_pred: Lists) -> IntArray | None:
    """The position of each item of `y_pred` in its row of `y_true`, from 0.

    None if a row's items are not those of `y_true`, each once.
    """
    if not np.array_equal(y_true.offsets, y_pred.offsets):
        return None
    row = row_of_each(y_true.offsets)
    if not len(row):
        return row
    items = int(max(y_true.codes.max(), y_pred.codes.max())) + 1
    place_of = np.full(items, -1, dtype=np.int64)
    place_of[y_true.codes] = np.arange(len(row), dtype=np.int64)
    places = place_of[y_pred.codes]
    # Mostly an item stands in one row alone; then each place is hit once, in its own row.
    if places.min() < 0 or not np.array_equal(row[places], row) or _repeats(places):
        by_item = np.lexsort((y_true.codes, row))
        submitted = np.lexsort((y_pred.codes, row))
        if not np.array_equal(y_true.codes[by_item], y_pred.codes[submitted]):
            return None
        places[submitted] = by_item
    places -= y_true.offsets[row]
    return places


def _repeats(places: IntArray) -> bool:
    """Whether any of n places from 0 to n - 1 comes twice."""
    hit = np.zeros(len(places), dtype=bool)
    hit[places] = True
    return not hit.all()


def _inversions(offsets: IntArray, places: IntArray) -> int:
    """The number of pairs of a row in descending order; each row is an order of 0, 1, 2 ..."""
    counts = np.diff(offsets)
    by_size = np.argsort(counts, kind="stable")
    sizes = counts[by_size]
    found = 0
    start = int(np.searchsorted(sizes, 2))
    while start < len(by_size) and sizes[start] <= _LONG:
        # Rows of much the same size share a table, so that little of it is filled up.
        similar = int(np.searchsorted(sizes, sizes[start] * 5 // 4, side="right"))
        end = min(similar, start + _CELLS // int(sizes[start]))
        found += _descending_pairs(offsets, places, by_size[start:end])
        start = end
    for row in by_size[start:].tolist():
        found += _inversions_of_long(places[offsets[row] : offsets[row + 1]])
    return found


def inversions_by_row(offsets: IntArray, places: IntArray) -> IntArray:
    """The number of pairs of each row in descending order; each row is an order of 0, 1, 2 ..."""
    counts = np.diff(offsets)
    found = np.zeros(len(counts), dtype=np.int64)
    for size in np.unique(counts[counts > 1]).tolist():
        rows = np.flatnonzero(counts == size)
        if size > _LONG:
            for row in rows.tolist():
                found[row] = _inversions_of_long(places[offsets[row] : offsets[row + 1]])
            continue
        for part in np.array_split(rows, len(rows) * size // _CELLS + 1):
            table = places[offsets[:-1][part] + np.arange(size)[:, None]].astype(np.int16)
            for j in range(1, size):
                found[part] += np.count_nonzero(table[:j] > table[j], axis=0)
    return found


def _inversions_of_long(order: IntArray) -> int:
    """The same for one row: those within its halves, and those from the one to the other."""
    if len(order) <= _LONG:
        ends = np.array([0, len(order)])
        return _descending_pairs(ends, np.argsort(np.argsort(order)), np.array([0]))
    left, right = np.split(order, [len(order) // 2])
    ascending = int(np.searchsorted(np.sort(left), right).sum())
    crossing = len(left) * len(right) - ascending
    return crossing + _inversions_of_long(left) + _inversions_of_long(right)


def _descending_pairs(offsets: IntArray, places: IntArray, rows: IntArray) -> int:
    """The descending pairs of some rows of like size: each pair is looked at, all rows at once."""
    sizes = (offsets[1:] - offsets[:-1])[rows]
    widest = int(sizes.max())
    column = np.arange(widest)[:, None]
    is_filled = column < sizes
    # Padded with a number larger than every place, which makes no descending pair.
    table = np.full((widest, len(rows)), widest, dtype=np.int16)
    table[is_filled] = places[(offsets[:-1][rows] + column)[is_filled]]
    return sum(int(np.count_nonzero(table[:j] > table[j])) for j in range(1, widest))


def _first_hits(ranked: IntArray, relevant: IntArray) -> IntArray:
    """Where an item of `ranked` is in `relevant` (ascending) for the first time, ascending."""
    hits, found = _places_of_hits(ranked, relevant)
    _, first = np.unique(found[hits], return_index=True)
    first.sort()
    return hits[first]


def _places_of_hits(ranked: IntArray, relevant: IntArray) -> tuple[IntArray, IntArray]:
    """Where `ranked` has something of `relevant` (ascending); and where each was looked for."""
    if not len(relevant):
        return np.empty(0, dtype=np.int64), np.zeros(len(ranked), dtype=np.int64)
    found = np.minimum(np.searchsorted(relevant, ranked), len(relevant) - 1)
    return np.flatnonzero(relevant[found] == ranked), found
