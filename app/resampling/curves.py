"""Plans of metrics that measure how a prediction orders answers of 0 and 1.

A cell is a value of the prediction with one answer. The cells of the answer 0 come first, then
those of the answer 1, each from the lowest prediction to the highest.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from app.metrics.arrays import FloatArray, IntArray
from app.metrics.probabilistic import is_one
from app.resampling.plan import Plan, by_column, share


class Ordered:
    """Predictions of zeros and ones in ascending order."""

    def __init__(self, y_true: FloatArray, y_pred: FloatArray) -> None:
        positive = is_one(y_true)
        self.rows = len(y_true)
        self.zeros, of_zeros = np.unique(y_pred[~positive], return_inverse=True)
        self.ones, of_ones = np.unique(y_pred[positive], return_inverse=True)
        self.cell_of_row = np.empty(self.rows, dtype=np.int64)
        self.cell_of_row[~positive] = of_zeros
        self.cell_of_row[positive] = len(self.zeros) + of_ones

    def split(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weights of the zeros and of the ones."""
        return weights[:, : len(self.zeros)], weights[:, len(self.zeros) :]

    def zeros_below(self, *, equal: bool) -> IntArray:
        """For each value of the ones, how many values of the zeros are below it, or equal."""
        return np.searchsorted(self.zeros, self.ones, side="right" if equal else "left")

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.zeros) + len(self.ones)


def areas(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`roc_auc_score`."""
    return by_column(_area, y_true, y_pred)


def average_precisions(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    """`average_precision_score`."""
    return by_column(_average_precision, y_true, y_pred)


def banded_area(
    y_true: FloatArray, y_pred: FloatArray, *, thresholds: list[float], weights: list[float]
) -> Plan:
    """`weighted_roc_auc_score`.

    The area of the bands is the mean over the zeros of a height: of the true positive rate at that
    zero, cut to each band and weighted. Where ones tie with it, the curve is a slope there, and the
    height is its mean over the slope.
    """
    order = Ordered(y_true, y_pred)
    lower = np.searchsorted(order.ones, order.zeros, side="left")
    upper = np.searchsorted(order.ones, order.zeros, side="right")
    tied = np.flatnonzero(lower != upper)
    bands = list(zip(pairwise(thresholds), weights, strict=True))
    width = sum(weight * (high - low) for (low, high), weight in bands)

    def score(drawn: FloatArray) -> FloatArray:
        zeros, ones = order.split(drawn)
        count = ones.sum(axis=1, keepdims=True)
        rates = share(count - _running(ones), count)  # of the ones from each position on
        height, integral = np.zeros_like(rates), np.zeros_like(rates)
        for (low, high), weight in bands:
            inside = np.clip(rates, low, high) - low
            height += weight * inside
            if len(tied):
                beyond = np.maximum(rates - high, 0.0)
                integral += weight * (inside**2 / 2 + (high - low) * beyond)
        heights = np.take(height, upper, axis=1, mode="clip")
        if len(tied):
            rise = rates[:, lower[tied]] - rates[:, upper[tied]]
            gained = integral[:, lower[tied]] - integral[:, upper[tied]]
            heights[:, tied] = np.where(rise > 0, share(gained, rise), heights[:, tied])
        return share(np.einsum("ij,ij->i", zeros, heights), zeros.sum(axis=1)) / width

    return Plan(order.rows, order.cells, order.cell_of_row, score)


def _area(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    order = Ordered(y_true, y_pred)
    below, up_to = order.zeros_below(equal=False), order.zeros_below(equal=True)
    is_tied = not np.array_equal(below, up_to)

    def score(weights: FloatArray) -> FloatArray:
        zeros, ones = order.split(weights)
        running = _running(zeros)
        # A one is above half of the zeros with which it ties.
        pairs = np.einsum("ij,ij->i", ones, np.take(running, below, axis=1, mode="clip"))
        if is_tied:
            pairs = (
                pairs + np.einsum("ij,ij->i", ones, np.take(running, up_to, axis=1, mode="clip"))
            ) / 2
        return share(pairs, zeros.sum(axis=1) * ones.sum(axis=1))

    return Plan(order.rows, order.cells, order.cell_of_row, score)


def _average_precision(y_true: FloatArray, y_pred: FloatArray) -> Plan:
    order = Ordered(y_true, y_pred)
    below = order.zeros_below(equal=False)

    def score(weights: FloatArray) -> FloatArray:
        zeros, ones = order.split(weights)
        found = np.cumsum(ones[:, ::-1], axis=1)[:, ::-1]
        above = zeros.sum(axis=1, keepdims=True) - np.take(
            _running(zeros), below, axis=1, mode="clip"
        )
        precision = share(found, found + above, otherwise=0.0)
        return share((ones * precision).sum(axis=1), ones.sum(axis=1))

    return Plan(order.rows, order.cells, order.cell_of_row, score)


def _running(weights: FloatArray) -> FloatArray:
    """The sum of the columns before each column, and of all."""
    running = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=running[:, 1:])
    return running
