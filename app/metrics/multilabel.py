"""Metrics of several labels a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from app.domain.form import SubmissionForm
from app.metrics.arrays import FloatArray, IntArray, Lists, items_in_rows
from app.metrics.registry import metric


@metric(kinds={"list"})
def multilabel_f1_score(
    y_true: Lists, y_pred: Lists, *, average: Literal["micro", "samples"] = "micro"
) -> float:
    """F1 of sets of labels: 2 shared / (in the answers + predicted), a repeated label counts once.

    `micro` pools the labels of all rows; `samples` is the mean over rows, where two empty sets
    score 1. A predicted label that no answer has is wrong like any other.

    Raises:
        ValueError: `micro`, and no row of the answers has a label.

    >>> true = Lists(np.array([1, 2]), np.array([0, 2]))
    >>> multilabel_f1_score(true, Lists(np.array([2, 9, 9]), np.array([0, 3])))
    0.5
    """
    shared, true, predicted, items = shared_labels(y_true, y_pred)
    if average == "micro":
        if not len(true):
            raise ValueError("F1 is undefined: no row of the answers has a label")
        return 2 * len(shared) / (len(true) + len(predicted))
    rows = len(y_true)
    both, total = count_by_row(shared, items, rows), count_by_row(true, items, rows)
    total += count_by_row(predicted, items, rows)
    scores = np.divide(2 * both, total, out=np.ones(rows), where=total > 0)
    return float(scores.sum()) / rows


def shared_labels(y_true: Lists, y_pred: Lists) -> tuple[IntArray, IntArray, IntArray, int]:
    """The labels of both sides, of the answers and of the submission, as `items_in_rows` has them.

    And how many different labels there may be, by which those numbers are divided to get the row.
    """
    items = int(max(y_true.codes.max(initial=0), y_pred.codes.max(initial=0)) + 1)
    true, predicted = items_in_rows(y_true, items), items_in_rows(y_pred, items)
    # Two ascending runs one after the other: a stable sort only merges them.
    both_sides = np.sort(np.concatenate([true, predicted]), kind="stable")
    return both_sides[1:][both_sides[1:] == both_sides[:-1]], true, predicted, items


def count_by_row(pairs: IntArray, items: int, rows: int) -> IntArray:
    """How many labels each row has, of numbers as `shared_labels` gives them."""
    return np.bincount(pairs // items, minlength=rows)


def _needs_several_columns(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    if len(form.columns) > 1:
        return []
    return ["label_ranking_average_precision_score ranks columns: declare one for each label"]


@metric(kinds={"number", "probability"}, columns="any", check=_needs_several_columns)
def label_ranking_average_precision_score(
    y_true: FloatArray, y_pred: FloatArray, *, weights: Literal["rows", "labels"] = "rows"
) -> float:
    """How many of the labels ranked at or above a true one are true, averaged over the true ones.

    The columns are labels, answers 1 for the true ones. With weights `rows` it is the mean over
    rows, as in scikit-learn, and a row without true labels counts 1; with `labels` all true labels
    weigh alike (lwlrap, of the DCASE challenge 2019) and such a row counts nothing. Ties take the
    worse rank.

    Raises:
        ValueError: the answers are not 0 and 1, or have no 1.

    >>> label_ranking_average_precision_score(
    ...     np.array([[1.0, 0.0, 0.0]]), np.array([[0.5, 0.9, 0.1]]))
    0.5
    """
    if y_true.ndim == 1:
        y_true, y_pred = y_true[:, None], y_pred[:, None]
    precision, count = precisions_of_labels(y_true, y_pred)
    if weights == "labels":
        return float(precision.sum()) / int(count.sum())
    means = np.divide(precision.sum(axis=1), count, out=np.ones(len(count)), where=count > 0)
    return float(means.sum()) / len(means)


def precisions_of_labels(y_true: FloatArray, y_pred: FloatArray) -> tuple[FloatArray, IntArray]:
    """The precision at each true label, 0 elsewhere, as (rows, columns); and each row's labels.

    Raises:
        ValueError: the answers are not 0 and 1, or have no 1.
    """
    is_true = y_true == 1.0
    if not (is_true | (y_true == 0.0)).all():
        raise ValueError("the answers must be 0 or 1")
    if not is_true.any():
        raise ValueError("the precision of labels is undefined: the answers have none")
    order = np.argsort(-y_pred, axis=1, kind="stable")
    ranked = np.take_along_axis(np.ascontiguousarray(y_pred), order, axis=1)
    true = np.take_along_axis(np.ascontiguousarray(is_true), order, axis=1)
    last = _last_of_ties(ranked)
    hits = np.take_along_axis(np.cumsum(true, axis=1), last, axis=1)
    return np.where(true, hits / (last + 1), 0.0), true.sum(axis=1)


def _last_of_ties(ranked: FloatArray) -> IntArray:
    """For each place of each row, the last place with the same value."""
    columns = ranked.shape[1]
    places = np.broadcast_to(np.arange(columns, dtype=np.int64), ranked.shape).copy()
    places[:, :-1][ranked[:, :-1] == ranked[:, 1:]] = columns
    found: IntArray = np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]
    return found
