"""More metrics of predicted probabilities and scores against answers of 0 and 1."""

from __future__ import annotations

import numpy as np

from app.metrics.arrays import FloatArray, mean_over_columns
from app.metrics.probabilistic import is_one
from app.metrics.registry import metric


@metric(kinds={"probability", "number", "integer", "boolean"}, columns="any")
def average_precision_score(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The area under the precision-recall curve, as a sum of steps; several columns: their mean.

    The sum over all distinct predictions, from the highest, of the precision there times the
    recall gained there. Equal predictions are one step, so the order of rows does not matter.

    Raises:
        ValueError: the answers are not 0 and 1, or have no 1.

    >>> average_precision_score(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.8333333333333333
    """
    return mean_over_columns(_average_precision, y_true, y_pred)


@metric(kinds={"probability"})
def brier_score_loss(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The mean squared difference between the probability of a 1 and the answer.

    Raises:
        ValueError: the answers are not 0 and 1.

    >>> brier_score_loss(np.array([1.0, 0.0]), np.array([0.5, 0.0]))
    0.125
    """
    difference = is_one(y_true) - y_pred
    return float(difference @ difference) / len(difference)


def _average_precision(y_true: FloatArray, y_pred: FloatArray) -> float:
    positive = is_one(y_true)
    total = int(np.count_nonzero(positive))
    if not total:
        raise ValueError("the average precision is undefined: the answers have no 1")
    order = np.argsort(-y_pred, kind="stable")
    ordered = y_pred[order]
    is_last_of_equals = np.append(ordered[1:] != ordered[:-1], True)
    found = np.cumsum(positive[order])[is_last_of_equals]
    precision = found / (np.flatnonzero(is_last_of_equals) + 1)
    gained = np.diff(found, prepend=0)
    return float(precision @ gained) / total
