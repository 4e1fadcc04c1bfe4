"""Plans of metrics that are means over rows, or follow from a few sums over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.metrics.arrays import EPSILON, LARGEST, FloatArray
from app.metrics.directions import angles_between
from app.metrics.probabilistic import as_classes, is_one, probability_of_truth
from app.metrics.regression import difference_of, shares_of_answer, shares_of_size
from app.resampling.plan import Plan, mean_plan, share, sums_plan


def accuracy(y_true: Any, y_pred: Any) -> Plan:
    """`accuracy_score`."""
    return mean_plan(y_true == y_pred, merge=True)


def hamming(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`hamming_loss`."""
    wrong = _columns(y_true != y_pred)
    return mean_plan(wrong.sum(axis=1) / wrong.shape[1], merge=True)


def squares(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`mean_squared_error`."""
    return _squares(y_true, y_pred, root=False)


def roots_of_squares(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`root_mean_squared_error`."""
    return _squares(y_true, y_pred, root=True)


def log_squares(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`root_mean_squared_log_error`."""
    return _squares(np.log1p(y_true), np.log1p(y_pred), root=True)


def absolutes(y_true: FloatArray, y_pred: FloatArray, *, decimals: int | None = None) -> Plan:
    """`mean_absolute_error`."""

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        found = _means_of_columns(totals, rows)
        if decimals is None:
            return found
        return np.array([round(each, decimals) for each in found.tolist()])

    return sums_plan(_bounded(np.abs(difference_of(y_true, y_pred))), combine)


def percents_of_size(y_true: FloatArray, y_pred: FloatArray, *, offset: float = 0.0) -> Plan:
    """`symmetric_mean_absolute_percentage_error`."""
    pairs = zip(_columns(y_true).T, _columns(y_pred).T, strict=True)
    shares = [200.0 * shares_of_size(y, p, offset) for y, p in pairs]
    return sums_plan(np.column_stack(shares), _means_of_columns)


def shares_of_answers(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`mean_absolute_percentage_error`."""
    shares = _bounded(shares_of_answer(y_true, y_pred))
    return sums_plan(shares, _means_of_columns)


def brier(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`brier_score_loss`."""
    return mean_plan((is_one(y_true) - y_pred) ** 2)


def log_losses(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`log_loss`."""
    true = probability_of_truth(y_true, y_pred)
    return mean_plan(-np.log(np.clip(true, EPSILON, 1.0 - EPSILON)))


def divergences(y_true: FloatArray, y_pred: FloatArray, *, epsilon: float = 1e-15) -> Plan:
    """`kl_divergence_loss`."""
    y_true, y_pred = as_classes(y_true), as_classes(y_pred)
    predicted = np.clip(y_pred, epsilon, 1.0 - epsilon)
    logs = np.log(np.divide(y_true, predicted, out=np.ones_like(predicted), where=y_true > 0.0))
    return mean_plan((y_true * logs).sum(axis=1))


def probabilistic_f1(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`probabilistic_f1_score`."""
    positive = is_one(y_true)

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        found, predicted, positives = totals.T
        return np.where(positives > 0, share(2.0 * found, predicted + positives), np.nan)

    return sums_plan(np.column_stack([positive * y_pred, y_pred, positive]), combine)


def argmax_accuracy(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`argmax_accuracy_score`."""
    return mean_plan(np.argmax(y_true, axis=1) == np.argmax(y_pred, axis=1), merge=True)


def angles(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`mean_angular_error`."""
    return mean_plan(angles_between(y_true, y_pred))


def _squares(y_true: FloatArray, y_pred: FloatArray, *, root: bool) -> Plan:
    differences = np.clip(difference_of(_columns(y_true), _columns(y_pred)), -LARGEST, LARGEST)
    scales = _scales(differences)

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        means = totals / rows
        with np.errstate(over="ignore"):
            found = np.sqrt(means) * scales if root else means * scales * scales
        return _mean(np.minimum(found, LARGEST))

    return sums_plan((differences / scales) ** 2, combine)


def _columns(values: Any) -> Any:
    return values.reshape(len(values), -1)


def _bounded(values: FloatArray) -> FloatArray:
    # An infinite loss times a weight of 0 would be NaN.
    bounded: FloatArray = _columns(np.minimum(values, LARGEST))
    return bounded


def _scales(values: FloatArray) -> FloatArray:
    """The largest size in each column, by which its squares cannot overflow."""
    largest = np.abs(values).max(axis=0)
    return np.where(largest > 0.0, largest, 1.0)


def _mean(columns: FloatArray) -> FloatArray:
    """The mean over columns, kept in range as in `mean_over_columns`."""
    with np.errstate(over="ignore"):
        means = (columns / columns.shape[1]).sum(axis=1)
    held: FloatArray = np.clip(means, -LARGEST, LARGEST)
    return held


def _means_of_columns(totals: FloatArray, rows: int) -> FloatArray:
    return _mean(np.minimum(totals / rows, LARGEST))
