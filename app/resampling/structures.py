"""Plans of metrics of lists, masks, boxes and texts. The items of one row are drawn together."""

from __future__ import annotations

from typing import Literal

import numpy as np

from app.metrics.arrays import Boxes, FloatArray, IntArray, Lists, Masks, TextArray, sum_by_row
from app.metrics.multilabel import count_by_row, precisions_of_labels, shared_labels
from app.metrics.points import rows_of_found
from app.metrics.ranking import (
    average_precisions,
    inversions_by_row,
    places_of_items,
    rows_with_hit,
)
from app.metrics.segmentation import IOU_THRESHOLDS, shared_and_total
from app.metrics.text import edit_distances, edit_distances_of_lists, shares_of_words
from app.resampling.plan import Plan, mean_plan, share, sums_plan


def multilabel_f1(
    y_true: Lists, y_pred: Lists, *, average: Literal["micro", "samples"] = "micro"
) -> Plan:
    """`multilabel_f1_score`."""
    shared, true, predicted, items = shared_labels(y_true, y_pred)
    counts = [count_by_row(part, items, len(y_true)) for part in (shared, true, predicted)]
    if average == "samples":
        return mean_plan(share(2 * counts[0], counts[1] + counts[2], otherwise=1.0), merge=True)
    return sums_plan(np.column_stack(counts), _pooled_f1, merge=True)


def label_precision(
    y_true: FloatArray, y_pred: FloatArray, *, weights: Literal["rows", "labels"] = "rows"
) -> Plan:
    """`label_ranking_average_precision_score`."""
    precision, count = precisions_of_labels(y_true, y_pred)
    total = precision.sum(axis=1)
    values = total if weights == "labels" else share(total, count, otherwise=1.0)

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        found, labels = totals.T
        means = share(found, labels) if weights == "labels" else found / rows
        return np.where(labels > 0, means, np.nan)

    return sums_plan(np.column_stack([values, count]), combine)


def map_at_k(y_true: Lists, y_pred: Lists, *, k: int) -> Plan:
    """`mean_average_precision_at_k_score`."""
    is_relevant = np.diff(y_true.offsets) > 0

    values = np.column_stack([average_precisions(y_true, y_pred, k), is_relevant])
    return sums_plan(values, _mean_where_any, merge=True)


def top_k(y_true: Lists, y_pred: Lists, *, k: int) -> Plan:
    """`top_k_error`."""
    return mean_plan(~rows_with_hit(y_true, y_pred, k), merge=True)


def kendall(y_true: Lists, y_pred: Lists) -> Plan:
    """`kendall_tau_corrcoef`."""
    places = places_of_items(y_true, y_pred)
    if places is None:
        raise ValueError("a row's items are not those of the answers, each once")
    counts = np.diff(y_true.offsets)

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        return 1.0 - share(4 * totals[:, 0], totals[:, 1])

    swaps = inversions_by_row(y_true.offsets, places)
    return sums_plan(np.column_stack([swaps, counts * (counts - 1)]), combine)


def dice(
    y_true: Masks,
    y_pred: Masks,
    *,
    average: Literal["samples", "micro"] = "samples",
    smooth: float = 0.0,
) -> Plan:
    """`dice_score`."""
    shared, total = shared_and_total(y_true, y_pred)
    if average == "samples":
        return mean_plan(share(2 * shared + smooth, total + smooth, otherwise=1.0))

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        return share(2 * totals[:, 0] + smooth, totals[:, 1] + smooth, otherwise=1.0)

    return sums_plan(np.column_stack([shared, total]), combine)


def jaccard(y_true: Masks, y_pred: Masks) -> Plan:
    """`jaccard_score`."""
    return mean_plan(_ious(y_true, y_pred))


def mask_fbeta(y_true: Masks, y_pred: Masks, *, beta: float = 1.0) -> Plan:
    """`mask_fbeta_score`."""
    shared, total = shared_and_total(y_true, y_pred)
    true = sum_by_row(y_true.lengths, y_true.offsets)
    square = beta * beta
    scores = share((1.0 + square) * shared, square * true + (total - true), otherwise=0.0)
    is_marked = np.diff(y_true.offsets) > 0

    return sums_plan(np.column_stack([scores, is_marked]), _mean_where_any)


def iou_precision(y_true: Masks, y_pred: Masks) -> Plan:
    """`mean_iou_precision_score`."""
    exceeded = (_ious(y_true, y_pred)[:, None] > IOU_THRESHOLDS).sum(axis=1)
    return mean_plan(exceeded / len(IOU_THRESHOLDS), merge=True)


def points_in_boxes(y_true: Boxes, y_pred: Boxes) -> Plan:
    """`point_in_box_f1_score`."""
    found = np.bincount(rows_of_found(y_true, y_pred), minlength=len(y_true))
    counts = [found, np.diff(y_true.offsets), np.diff(y_pred.offsets)]
    return sums_plan(np.column_stack(counts), _pooled_f1, merge=True)


def edits(y_true: TextArray, y_pred: TextArray) -> Plan:
    """`mean_levenshtein_error`."""
    return mean_plan(edit_distances(y_true, y_pred), merge=True)


def edits_of_lists(y_true: Lists, y_pred: Lists) -> Plan:
    """`normalized_levenshtein_error`."""
    distances = list(edit_distances_of_lists(y_true, y_pred))

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        return share(totals[:, 0], totals[:, 1])

    values = np.column_stack([distances, np.diff(y_true.offsets)])
    return sums_plan(values, combine, merge=True)


def words(y_true: TextArray, y_pred: TextArray) -> Plan:
    """`mean_word_jaccard_score`."""
    return mean_plan(np.array(list(shares_of_words(y_true, y_pred))), merge=True)


def _mean_where_any(totals: FloatArray, rows: int) -> FloatArray:
    """The first sum over the number of rows; undefined where the second sum is 0."""
    return np.where(totals[:, 1] > 0, totals[:, 0] / rows, np.nan)


def _ious(y_true: Masks, y_pred: Masks) -> FloatArray:
    shared, total = shared_and_total(y_true, y_pred)
    union: IntArray = total - shared
    return share(shared, union, otherwise=1.0)


def _pooled_f1(totals: FloatArray, rows: int) -> FloatArray:
    """2 shared / (in the answers + predicted), of these three sums."""
    shared, true, predicted = totals.T
    return np.where(true > 0, share(2 * shared, true + predicted), np.nan)
