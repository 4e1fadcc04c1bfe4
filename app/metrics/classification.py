"""Metrics of predicted classes. All are counted in integers, so rows may come in any order.

Classes are codes of labels, or the values of number-like columns. Everything here takes time and
memory in proportion to rows and classes: no confusion matrix, which a submission with as many
classes as rows would make too large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from app.domain.form import SubmissionForm
from app.metrics.arrays import IntArray, TextArray
from app.metrics.class_codes import Classes, code_by_labels, code_classes
from app.metrics.precision_recall import CLASSES, binary_has_a_positive
from app.metrics.registry import metric


@metric(kinds=CLASSES | {"text"})
def accuracy_score(y_true: Classes | TextArray, y_pred: Classes | TextArray) -> float:
    """The share of rows predicted exactly.

    >>> accuracy_score(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 3]))
    0.75
    """
    return int(np.count_nonzero(y_true == y_pred)) / len(y_true)


@metric(kinds=CLASSES, check=binary_has_a_positive)
def f1_score(
    y_true: Classes,
    y_pred: Classes,
    *,
    average: Literal["macro", "micro", "weighted", "binary"] = "macro",
) -> float:
    """F1 = 2 true positives / (in the answers + predicted), averaged over the classes.

    `macro` weighs all classes alike that occur in answers or submission, `weighted` by their
    number in the answers; `micro` counts all classes together, which is the accuracy; `binary` is
    the F1 of the value 1 alone.

    Raises:
        ValueError: `binary`, and the answers have no 1.

    >>> f1_score(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), average="binary")
    0.8
    """
    if average == "micro":
        return accuracy_score(y_true, y_pred)
    if average == "binary":
        true, predicted = y_true == 1, y_pred == 1
        if not true.any():
            raise ValueError("binary F1 is undefined: the answers have no 1")
        both = int(np.count_nonzero(true & predicted))
        return 2 * both / (int(np.count_nonzero(true)) + int(np.count_nonzero(predicted)))
    t, p, classes = code_classes(y_true, y_pred)
    in_answers = np.bincount(t, minlength=classes)
    in_either = in_answers + np.bincount(p, minlength=classes)
    right = np.bincount(t[t == p], minlength=classes)
    f1 = 2 * right / in_either
    if average == "weighted":
        return float(f1 @ in_answers) / len(t)
    return float(f1.sum()) / classes


@metric(kinds=CLASSES)
def matthews_corrcoef(y_true: Classes, y_pred: Classes) -> float:
    """Matthews' correlation coefficient, from -1 to 1, also for several classes (Gorodkin's R_K).

    Source: J. Gorodkin, Computational Biology and Chemistry 28 (2004). Constant predictions
    give 0.

    Raises:
        ValueError: the answers are all the same.

    >>> matthews_corrcoef(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]))
    0.5773502691896258
    """
    t, p, classes = code_classes(y_true, y_pred)
    in_answers = np.bincount(t, minlength=classes)
    predicted = np.bincount(p, minlength=classes)
    squared = len(t) ** 2
    spread_true = squared - int(in_answers @ in_answers)
    spread_predicted = squared - int(predicted @ predicted)
    if not spread_true:
        raise ValueError("Matthews' coefficient is undefined: the answers are all the same")
    if not spread_predicted:
        return 0.0
    right = int(np.count_nonzero(t == p))
    shared = right * len(t) - int(in_answers @ predicted)
    return shared / (math.sqrt(spread_true) * math.sqrt(spread_predicted))


def _weights_need_an_order(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    messages: list[str] = []
    labels = parameters.get("labels")
    for name, column in form.columns.items():
        if column.kind == "label":
            messages.extend(
                f"cohen_kappa_score: {key} needs classes that are numbers: "
                f"declare column {name!r} integer"
                for key in ("weights", "labels")
                if parameters.get(key) is not None
            )
        elif labels is not None:
            low, high = (0, 1) if column.kind == "boolean" else _integer_range(column)
            if low is None or high is None or not _holds_all(labels, low, high):
                messages.append(
                    "cohen_kappa_score: labels must hold all that column "
                    f"{name!r} may: declare it integer, with min and max among the labels"
                )
    if labels is not None and len(set(labels)) != len(labels):
        messages.append("cohen_kappa_score: labels repeats a label")
    return messages


def _integer_range(column: Any) -> tuple[int | None, int | None]:
    return (column.min, column.max) if column.kind == "integer" else (None, None)


def _holds_all(labels: list[int], low: int, high: int) -> bool:
    """Whether every integer from `low` to `high` is among the labels."""
    return high - low < len(labels) and set(range(low, high + 1)) <= set(labels)


@metric(kinds=CLASSES, check=_weights_need_an_order)
def cohen_kappa_score(
    y_true: Classes,
    y_pred: Classes,
    *,
    weights: Literal["linear", "quadratic", None] = None,
    labels: list[int] | None = None,
) -> float:
    """Cohen's kappa: 1 - disagreement / disagreement expected by chance.

    `weights` make a disagreement count by the distance between the classes, or its square. As in
    scikit-learn, the distance is between places in the ordered list of classes: those of
    `labels`, or else those that occur in answers or submission. Constant predictions give 0.

    Raises:
        ValueError: the answers are all the same, or a value is not among `labels`.

    >>> cohen_kappa_score(np.array([0, 1, 2, 2]), np.array([0, 2, 2, 2]), weights="quadratic")
    0.8333333333333334
    """
    if labels is None:
        t, p, classes = code_classes(y_true, y_pred)
    else:
        t, p, classes = code_by_labels(y_true, y_pred, labels)
    in_answers = np.bincount(t, minlength=classes)
    predicted = np.bincount(p, minlength=classes)
    if in_answers.max() == len(t):
        raise ValueError("Cohen's kappa is undefined: the answers are all the same")
    if predicted.max() == len(p):
        return 0.0
    if weights == "quadratic":
        return 1.0 - _squares(t, p) / _expected_squares(in_answers, predicted)
    if weights == "linear":
        distance = int(np.abs(t - p).sum())
        return 1.0 - distance * len(t) / _expected_distances(in_answers, predicted)
    wrong = int(np.count_nonzero(t != p))
    return 1.0 - wrong * len(t) / (len(t) ** 2 - int(in_answers @ predicted))


def _squares(t: IntArray, p: IntArray) -> float:
    difference = (t - p).astype(np.float64)
    return float(difference @ difference)


def _expected_squares(in_answers: IntArray, predicted: IntArray) -> float:
    """The mean over all pairs (answer, prediction) of the squared distance, times the rows."""
    rows = float(in_answers.sum())
    classes = np.arange(len(in_answers), dtype=np.float64)
    mean_a, mean_b = float(in_answers @ classes) / rows, float(predicted @ classes) / rows
    # Variances plus squared difference of the means: nothing large cancels.
    return (
        float(in_answers @ (classes - mean_a) ** 2)
        + float(predicted @ (classes - mean_b) ** 2)
        + rows * (mean_a - mean_b) ** 2
    )


def _expected_distances(in_answers: IntArray, predicted: IntArray) -> float:
    """The sum over all pairs (answer, prediction) of the distance."""
    # Two classes are as far apart as there are gaps between them: count the pairs over each gap.
    rows = float(in_answers.sum())
    a, b = np.cumsum(in_answers).astype(np.float64), np.cumsum(predicted).astype(np.float64)
    return float((a * (rows - b) + b * (rows - a)).sum())
