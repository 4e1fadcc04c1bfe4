"""Plans of metrics of predicted classes. A cell is a pair of answer and prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from app.metrics.arrays import FloatArray, IntArray
from app.metrics.class_codes import Classes, code_by_labels, code_classes
from app.resampling.losses import accuracy
from app.resampling.plan import Plan, group_sums, share, sums_plan

# For each class: rows predicted correctly, rows predicted, rows in the answers.
Value = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class Pairs:
    """The cells of two columns of classes, and sums of weights over them."""

    def __init__(self, true: IntArray, predicted: IntArray, classes: int) -> None:
        self.rows, self.classes = len(true), classes
        found, self.cell_of_row = np.unique(true * classes + predicted, return_inverse=True)
        self.true, self.predicted = np.divmod(found, classes)
        self._in_answers = group_sums(self.true, classes)
        self._predicted = group_sums(self.predicted, classes)
        self._is_right = np.flatnonzero(self.true == self.predicted)
        self._right = group_sums(self.true[self._is_right], classes)

    def counts(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows predicted correctly, predicted, and in the answers: each (resamples, classes)."""
        right = self._right(weights[:, self._is_right])
        return right, self._predicted(weights), self._in_answers(weights)

    def plan(self, score: Callable[[FloatArray], FloatArray]) -> Plan:
        """The plan of a score of these cells."""
        return Plan(self.rows, len(self.true), self.cell_of_row, score)


def f1(y_true: Classes, y_pred: Classes, *, average: str = "macro") -> Plan:
    """`f1_score`."""
    return _averaged(y_true, y_pred, average, lambda r, p, t: share(2 * r, p + t, otherwise=0.0))


def precision(y_true: Classes, y_pred: Classes, *, average: str = "macro") -> Plan:
    """`precision_score`."""
    return _averaged(y_true, y_pred, average, lambda r, p, t: share(r, p, otherwise=0.0))


def recall(y_true: Classes, y_pred: Classes, *, average: str = "macro") -> Plan:
    """`recall_score`."""
    return _averaged(y_true, y_pred, average, lambda r, p, t: share(r, t, otherwise=0.0))


def fbeta(y_true: Classes, y_pred: Classes, *, beta: float, average: str = "macro") -> Plan:
    """`fbeta_score`."""
    square = beta * beta

    def value(right: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        return share((1.0 + square) * right, square * true + predicted, otherwise=0.0)

    return _averaged(y_true, y_pred, average, value)


def balanced_accuracy(y_true: Classes, y_pred: Classes) -> Plan:
    """`balanced_accuracy_score`."""
    pairs = Pairs(*code_classes(y_true, y_pred))

    def score(weights: FloatArray) -> FloatArray:
        right, _, true = pairs.counts(weights)
        found: FloatArray = share(right, true, otherwise=0.0).sum(axis=1) / (true > 0).sum(axis=1)
        return found

    return pairs.plan(score)


def matthews(y_true: Classes, y_pred: Classes) -> Plan:
    """`matthews_corrcoef`."""
    pairs = Pairs(*code_classes(y_true, y_pred))

    def score(weights: FloatArray) -> FloatArray:
        right, predicted, true = pairs.counts(weights)
        squared = float(pairs.rows) ** 2
        spread_true = squared - (true**2).sum(axis=1)
        spread_predicted = squared - (predicted**2).sum(axis=1)
        shared = right.sum(axis=1) * pairs.rows - (true * predicted).sum(axis=1)
        size = np.sqrt(spread_true) * np.sqrt(spread_predicted)
        return np.where(spread_true > 0, share(shared, size, otherwise=0.0), np.nan)

    return pairs.plan(score)


def kappa(
    y_true: Classes,
    y_pred: Classes,
    *,
    weights: Literal["linear", "quadratic", None] = None,
    labels: list[int] | None = None,
) -> Plan:
    """`cohen_kappa_score`. Without `labels`, classes that a resample lacks have no rank there."""
    if labels is None:
        pairs = Pairs(*code_classes(y_true, y_pred))
    else:
        pairs = Pairs(*code_by_labels(y_true, y_pred, labels))
    rows = float(pairs.rows)

    def score(drawn: FloatArray) -> FloatArray:
        right, predicted, true = pairs.counts(drawn)
        is_there = np.ones_like(true, dtype=bool) if labels else (true + predicted) > 0
        if weights is None:
            found = rows - right.sum(axis=1)
            expected = rows**2 - (true * predicted).sum(axis=1)
        else:
            place = np.cumsum(is_there, axis=1) - 1.0
            distance = np.take(place, pairs.true, axis=1)
            distance -= np.take(place, pairs.predicted, axis=1)
            if weights == "linear":
                found = (drawn * np.abs(distance)).sum(axis=1)
                expected = _distances(true, predicted, is_there, rows)
            else:
                found = (drawn * distance**2).sum(axis=1)
                expected = _squares(true, predicted, place, rows)
        kappas = 1.0 - share(found * rows, expected, otherwise=0.0)
        kappas[predicted.max(axis=1) == rows] = 0.0
        kappas[true.max(axis=1) == rows] = np.nan
        return kappas

    return pairs.plan(score)


def _distances(true: FloatArray, predicted: FloatArray, is_there: Any, rows: float) -> FloatArray:
    """The sum over all pairs (answer, prediction) of the distance: the pairs over each gap."""
    a, b = np.cumsum(true, axis=1), np.cumsum(predicted, axis=1)
    found: FloatArray = ((a * (rows - b) + b * (rows - a)) * is_there).sum(axis=1)
    return found


def _squares(true: FloatArray, predicted: FloatArray, place: FloatArray, rows: float) -> FloatArray:
    """The sum over all pairs (answer, prediction) of the squared distance."""
    mean_a = (true * place).sum(axis=1, keepdims=True) / rows
    mean_b = (predicted * place).sum(axis=1, keepdims=True) / rows
    spread = (true * (place - mean_a) ** 2).sum(axis=1)
    spread += (predicted * (place - mean_b) ** 2).sum(axis=1)
    found: FloatArray = rows * (spread + rows * (mean_a - mean_b)[:, 0] ** 2)
    return found


def _averaged(y_true: Classes, y_pred: Classes, average: str, value: Value) -> Plan:
    """A plan of a value of each class, averaged over classes as in `f1_score`."""
    if average == "micro":
        # All classes together have as many predicted rows as rows in the answers, so each of these
        # values is the accuracy.
        return accuracy(y_true, y_pred)
    if average == "binary":
        return _of_one(y_true, y_pred, value)
    pairs = Pairs(*code_classes(y_true, y_pred))

    def score(weights: FloatArray) -> FloatArray:
        right, predicted, true = pairs.counts(weights)
        values = value(right, predicted, true)
        found: FloatArray
        if average == "weighted":
            found = (values * true).sum(axis=1) / pairs.rows
        else:
            found = values.sum(axis=1) / ((true + predicted) > 0).sum(axis=1)
        return found

    return pairs.plan(score)


def _of_one(y_true: Classes, y_pred: Classes, value: Value) -> Plan:
    """A plan of the value of the class 1 alone."""
    true, predicted = y_true == 1, y_pred == 1

    def combine(totals: FloatArray, rows: int) -> FloatArray:
        right, found, there = totals.T
        return np.where(there > 0, value(right, found, there), np.nan)

    return sums_plan(np.column_stack([true & predicted, predicted, true]), combine, merge=True)
