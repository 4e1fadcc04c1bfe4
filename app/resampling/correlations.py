"""Plans of metrics that compare variances, or ranks. Several columns: the mean of their scores."""

from __future__ import annotations

import numpy as np

from app.metrics.arrays import LARGEST, FloatArray
from app.metrics.regression import difference_of
from app.resampling.plan import Plan, by_column, share, sums_plan
from app.resampling.ranks import correlation, spearman_plan

# A variance below this share of the mean square is a rounding error of a variance of 0.
ROUNDING = 1e-13


def pearson(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`pearson_corrcoef`."""
    return by_column(_pearson, y_true, y_pred)


def spearman(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`spearman_corrcoef`. The drawn rows are ranked again."""
    return by_column(spearman_plan, y_true, y_pred)


def r2(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`r2_score`."""
    return by_column(lambda y, p: _explained(y, p, centred=False), y_true, y_pred)


def explained_variance(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`explained_variance_score`."""
    return by_column(lambda y, p: _explained(y, p, centred=True), y_true, y_pred)


def median_absolute(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`median_absolute_error`."""
    return by_column(_median_absolute, y_true, y_pred)


def _pearson(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    a, b = _centred(y_true), _centred(y_pred)

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        sum_a, sum_b, *squares, product = totals.T
        spread_a, spread_b = (
            _spread(square, total, rows)
            for square, total in zip(squares, (sum_a, sum_b), strict=True)
        )
        covariance = product - sum_a * sum_b / rows
        return correlation(covariance, spread_a, spread_b)

    return sums_plan(np.column_stack([a, b, a * a, b * b, a * b]), combine)


def _explained(y_true: FloatArray, y_pred: FloatArray, *, centred: bool) -> Plan:
    deviations = _deviations(y_true)
    differences = np.clip(difference_of(y_true, y_pred), -LARGEST, LARGEST)
    # The unit of both is the answers' spread, as long as no square overflows.
    unit = max(float(np.abs(deviations).max()), float(np.abs(differences).max()) / 1e150)
    answers, errors = deviations / unit, differences / unit
    if centred:
        errors = errors - errors.mean()

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        total, square, wrong, wrong_square = totals.T
        spread = _spread(square, total, rows)
        unexplained = _spread(wrong_square, wrong, rows) if centred else wrong_square
        with np.errstate(over="ignore"):
            found = np.maximum(1.0 - share(unexplained, spread), -LARGEST)
        return np.where(spread > 0, found, np.nan)

    return sums_plan(np.column_stack([answers, answers**2, errors, errors**2]), combine)


def _median_absolute(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    errors = np.minimum(np.abs(difference_of(y_true, y_pred)), LARGEST)
    values, cell_of_row = np.unique(errors, return_inverse=True)
    rows = len(errors)

    def score(weights: FloatArray) -> FloatArray:
        running = np.cumsum(weights, axis=1)
        places = np.array(
            [np.searchsorted(row, [(rows - 1) // 2, rows // 2], side="right") for row in running]
        )
        with np.errstate(over="ignore"):
            medians: FloatArray = np.minimum(values[places].sum(axis=1) / 2, LARGEST)
        return medians

    return Plan(rows, len(values), cell_of_row, score)


def _spread(square: FloatArray, total: FloatArray, rows: int) -> FloatArray:
    """The sum of squared deviations from the mean of the drawn values; 0 for a rounding error."""
    found = square - total * total / rows
    return np.where(found > ROUNDING * square, found, 0.0)


def _deviations(values: FloatArray) -> FloatArray:
    scale = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    scaled = values / scale
    deviations: FloatArray = (scaled - scaled.mean()) * scale
    return deviations


def _centred(values: FloatArray) -> FloatArray:
    """The values less their mean, as shares of the largest deviation."""
    deviations = _deviations(values)
    largest = float(np.abs(deviations).max())
    return deviations / largest if largest else deviations
