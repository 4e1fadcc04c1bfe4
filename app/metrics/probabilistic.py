"""Metrics of predicted probabilities against answers of 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from app.domain.form import SubmissionForm
from app.metrics.arrays import EPSILON, BoolArray, FloatArray, mean_over_columns
from app.metrics.registry import metric

# How far the sum of a row may be from 1 before the row is divided by it: float32 and six decimals
# are within it, as in MLE-bench, and a file gains no more than this by a sum above 1.
SUM_ROUNDING = 1e-5


@metric(kinds={"probability", "number", "integer", "boolean"}, columns="any")
def roc_auc_score(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The area under the ROC curve; several columns: the mean of their areas.

    This is how often a random 1 is predicted above a random 0, a tie counting half (Mann and
    Whitney's U). It is counted in integers, so the order of rows cannot change a bit of it.

    Raises:
        ValueError: the answers are not 0 and 1, or all the same.

    >>> roc_auc_score(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    return mean_over_columns(_area, y_true, y_pred)


@metric(kinds={"probability"}, columns="any")
def log_loss(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The mean of -log(probability of what is true); several columns are classes, one-hot.

    Probabilities are clipped to [eps, 1 - eps] of float64, as in scikit-learn. A row of several
    columns whose sum differs from 1 by more than 1e-5 is divided by its sum first, as Kaggle
    does: scikit-learn only warns, and a row of ones would be a perfect prediction.

    Raises:
        ValueError: the answers are not 0 and 1, or not one-hot.

    >>> round(log_loss(np.array([1.0, 0.0]), np.array([0.8, 0.4])), 6)
    0.366985
    """
    true = probability_of_truth(y_true, y_pred)
    logs = np.log(np.clip(true, EPSILON, 1.0 - EPSILON))
    return -float(logs.sum()) / len(logs)


@metric(kinds={"probability"}, columns="any")
def kl_divergence_loss(
    y_true: FloatArray, y_pred: FloatArray, *, epsilon: Annotated[float, Field(gt=0, lt=1)] = 1e-15
) -> float:
    """The mean over rows of the Kullback-Leibler divergence, the sum of y ln(y / p) over columns.

    Predictions are clipped to [epsilon, 1 - epsilon]. One column is the probability of a 1.

    >>> truth = np.array([[0.5, 0.5]])
    >>> round(kl_divergence_loss(truth, np.array([[0.25, 0.75]])), 6)
    0.143841
    """
    y_true, y_pred = as_classes(y_true), as_classes(y_pred)
    predicted = np.clip(y_pred, epsilon, 1.0 - epsilon)
    with np.errstate(over="ignore"):
        ratios = np.divide(y_true, predicted, out=np.ones_like(predicted), where=y_true > 0.0)
    logs = np.log(ratios)
    beyond = np.isinf(ratios)  # with an epsilon below all ordinary doubles
    logs[beyond] = np.log(y_true[beyond]) - np.log(predicted[beyond])
    return float((y_true * logs).sum()) / len(y_true)


@metric(kinds={"probability"})
def probabilistic_f1_score(y_true: FloatArray, y_pred: FloatArray) -> float:
    """F1 with probabilities for counts: each row is a positive to the extent that is predicted.

    Precision is the answers' share of all that is predicted, recall the predicted share of the
    answers. Source: Yacouby and Axman, Probabilistic extension of precision, recall and F1 score,
    Eval4NLP 2020. Predictions of 0 alone score 0.

    Raises:
        ValueError: the answers are not 0 and 1, or have no 1.

    >>> probabilistic_f1_score(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    0.5
    """
    positive = is_one(y_true)
    if not positive.any():
        raise ValueError("F1 is undefined: the answers have no 1")
    found, predicted = float(y_pred[positive].sum()), float(y_pred.sum())
    return 2.0 * found / (predicted + int(np.count_nonzero(positive)))


def _needs_classes(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    if len(form.columns) > 1:
        return []
    return ["argmax_accuracy_score picks a column: declare one for each class"]


@metric(kinds={"probability", "number"}, columns="any", check=_needs_classes)
def argmax_accuracy_score(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The share of rows whose largest column is that of the true class; columns are classes.

    The answers have a single 1 in each row. Of equal largest ones the first column counts.

    Raises:
        ValueError: the answers are not one-hot.

    >>> truth = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> argmax_accuracy_score(truth, np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]]))
    0.5
    """
    if not (is_one(y_true).sum(axis=1) == 1).all():
        raise ValueError("the answers must have a single 1 in each row")
    right = np.argmax(y_true, axis=1) == np.argmax(y_pred, axis=1)
    return int(np.count_nonzero(right)) / len(right)


def is_one(y_true: FloatArray) -> BoolArray:
    """Which answers are 1.

    Raises:
        ValueError: an answer is neither 0 nor 1.
    """
    ones: BoolArray = y_true == 1.0
    if not ((y_true == 0.0) | ones).all():
        raise ValueError("the answers must be 0 or 1")
    return ones


def probability_of_truth(y_true: FloatArray, y_pred: FloatArray) -> FloatArray:
    """Of each row, the probability predicted for what is true: the class whose answer is 1."""
    if y_true.ndim == 1:
        return np.where(is_one(y_true), y_pred, 1.0 - y_pred)
    # Column by column: columns lie together in memory, and there are few of them.
    true, sums = np.zeros(len(y_true)), np.zeros(len(y_true))
    ones = np.zeros(len(y_true), dtype=np.int64)
    for j in range(y_true.shape[1]):
        is_true = is_one(y_true[:, j])
        ones += is_true
        true += is_true * y_pred[:, j]
        sums += y_pred[:, j]
    if not (ones == 1).all():
        raise ValueError("every row of the answers must have one 1 and otherwise 0")
    needs_division = (np.abs(sums - 1.0) > SUM_ROUNDING) & (sums > 0.0)
    return np.divide(true, sums, out=true, where=needs_division)


def as_classes(probabilities: FloatArray) -> FloatArray:
    """A column for each class; of one column, for a 1 and for a 0."""
    if probabilities.ndim > 1:
        return probabilities
    return np.column_stack([probabilities, 1.0 - probabilities])


def _area(y_true: FloatArray, y_pred: FloatArray) -> float:
    positive = is_one(y_true)
    positives = int(np.count_nonzero(positive))
    negatives = len(positive) - positives
    if not positives or not negatives:
        raise ValueError("AUC is undefined: the answers are all the same")
    if y_pred.min() >= 0.0 and y_pred.max() < 2.0:
        twice = _twice_above_by_bits(positive, y_pred, positives)
    else:
        ones, zeros = np.sort(y_pred[positive]), np.sort(y_pred[~positive])
        twice = int(np.searchsorted(zeros, ones, side="left").sum()) + int(
            np.searchsorted(zeros, ones, side="right").sum()
        )
    return twice / (2 * positives * negatives)


def _twice_above_by_bits(positive: BoolArray, scores: FloatArray, positives: int) -> int:
    """Twice the number of pairs with the positive above, ties half, for scores in [0, 2).

    The bits of such doubles order like integers and leave the highest two unused, so that the
    answer fits in as the lowest bit: one sort of plain integers, no permutation to follow.
    """
    keys = scores.view(np.int64) << 1  # this also drops the sign of -0.0
    keys |= positive
    keys.sort()
    places = np.flatnonzero(keys & 1)
    twice = 2 * int(places.sum()) - positives * (positives - 1)
    # So far a positive stands above all that it ties with. Take back half of each tie.
    keys >>= 1
    differs = keys[1:] != keys[:-1]
    if not differs.all():
        starts = np.append(0, np.flatnonzero(differs) + 1)
        ones = np.diff(np.searchsorted(places, starts), append=positives)
        sizes = np.diff(starts, append=len(keys))
        twice -= int(ones @ (sizes - ones))
    return twice
