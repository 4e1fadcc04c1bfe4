"""Precision, recall and what weighs them, for predicted classes. All are counted in integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from app.domain.form import SubmissionForm
from app.metrics.arrays import FloatArray, IntArray, mean_over_columns
from app.metrics.class_codes import Classes, code_classes
from app.metrics.registry import metric

CLASSES = {"label", "boolean", "integer", "number"}
Average = Literal["macro", "micro", "weighted", "binary"]
Counts = tuple[IntArray, IntArray, IntArray]


def binary_has_a_positive(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    """Errors for `average = "binary"` with columns of labels, which have no 1."""
    if parameters.get("average") != "binary":
        return []
    return [
        f'average = "binary" needs 1 for the positive class: declare column {name!r} boolean, '
        "or integer from 0 to 1"
        for name, column in form.columns.items()
        if column.kind == "label"
    ]


@metric(kinds=CLASSES, check=binary_has_a_positive)
def precision_score(y_true: Classes, y_pred: Classes, *, average: Average = "macro") -> float:
    """The share of the rows predicted as a class that are of it, averaged as in `f1_score`.

    A class that is never predicted counts 0.

    Raises:
        ValueError: `binary`, and the answers have no 1.

    >>> precision_score(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), average="binary")
    0.6666666666666666
    """
    counts = _counts(y_true, y_pred, average)
    right, predicted, _ = counts
    return _averaged(_share(right, predicted), counts, average)


@metric(kinds=CLASSES, check=binary_has_a_positive)
def recall_score(y_true: Classes, y_pred: Classes, *, average: Average = "macro") -> float:
    """The share of a class's rows that are predicted as it, averaged as in `f1_score`.

    A class that the answers do not have counts 0 in `macro`.

    Raises:
        ValueError: `binary`, and the answers have no 1.

    >>> recall_score(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), average="binary")
    1.0
    """
    counts = _counts(y_true, y_pred, average)
    right, _, in_answers = counts
    return _averaged(_share(right, in_answers), counts, average)


@metric(kinds=CLASSES, check=binary_has_a_positive)
def fbeta_score(
    y_true: Classes,
    y_pred: Classes,
    *,
    beta: Annotated[float, Field(gt=0, le=1000)],
    average: Average = "macro",
) -> float:
    """F-beta, in which recall weighs `beta` times as much as precision; averaged as `f1_score`.

    Raises:
        ValueError: `binary`, and the answers have no 1.

    >>> fbeta_score(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), beta=2.0, average="binary")
    0.9090909090909091
    """
    counts = _counts(y_true, y_pred, average)
    right, predicted, in_answers = counts
    square = beta * beta
    return _averaged(
        _share((1.0 + square) * right, square * in_answers + predicted), counts, average
    )


@metric(kinds=CLASSES)
def balanced_accuracy_score(y_true: Classes, y_pred: Classes) -> float:
    """The mean recall of the classes that the answers have.

    >>> balanced_accuracy_score(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    0.8333333333333333
    """
    right, _, in_answers = _counts(y_true, y_pred, "macro")
    known = in_answers > 0
    return float((right[known] / in_answers[known]).sum()) / int(np.count_nonzero(known))


@metric(kinds=CLASSES, columns="any")
def hamming_loss(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The share of wrong values among all rows and columns.

    >>> hamming_loss(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [1, 0]]))
    0.25
    """
    return mean_over_columns(
        lambda true, predicted: int(np.count_nonzero(true != predicted)) / len(true),
        y_true, y_pred,
    )  # fmt: skip


def _counts(y_true: Classes, y_pred: Classes, average: Average) -> Counts:
    """For each class that counts: rows predicted rightly, rows predicted, rows in the answers."""
    if average == "binary":
        true, predicted = y_true == 1, y_pred == 1
        if not true.any():
            raise ValueError("the score of 1 is undefined: the answers have no 1")
        both = np.count_nonzero(true & predicted)
        counts = both, np.count_nonzero(predicted), np.count_nonzero(true)
        return np.array([counts[0]]), np.array([counts[1]]), np.array([counts[2]])
    if average == "micro":
        rows = np.array([len(y_true)])
        return np.array([np.count_nonzero(y_true == y_pred)]), rows, rows
    t, p, classes = code_classes(y_true, y_pred)
    right = np.bincount(t[t == p], minlength=classes)
    return right, np.bincount(p, minlength=classes), np.bincount(t, minlength=classes)


def _share(part: npt.NDArray[Any], of: npt.NDArray[Any]) -> FloatArray:
    shares = np.zeros(len(of))
    np.divide(part, of, out=shares, where=of > 0)
    return shares


def _averaged(values: FloatArray, counts: Counts, average: Average) -> float:
    in_answers = counts[2]
    if average == "weighted":
        return float(values @ in_answers) / int(in_answers.sum())
    return float(values.sum()) / len(values)
