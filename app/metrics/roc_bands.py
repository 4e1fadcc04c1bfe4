"""The area under the ROC curve, with bands of the true positive rate weighing differently."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from app.domain.form import SubmissionForm
from app.metrics.arrays import FloatArray
from app.metrics.registry import metric


def _bands_are_whole(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    thresholds, weights = parameters["thresholds"], parameters["weights"]
    if len(thresholds) < 2 or thresholds[0] != 0.0 or thresholds[-1] != 1.0:
        return ["weighted_roc_auc_score: thresholds must run from 0.0 to 1.0"]
    if not all(low < high for low, high in pairwise(thresholds)):
        return ["weighted_roc_auc_score: thresholds must ascend"]
    # TOML has nan and inf. NaN is in no order, so the conditions say what is right.
    if len(weights) != len(thresholds) - 1 or not all(0.0 < w < math.inf for w in weights):
        return ["weighted_roc_auc_score: one finite weight above 0 is needed for each band"]
    return []


@metric(kinds={"number", "probability"}, check=_bands_are_whole)
def weighted_roc_auc_score(
    y_true: FloatArray, y_pred: FloatArray, *, thresholds: list[float], weights: list[float]
) -> float:
    """The area under the ROC curve, cut into horizontal bands that weigh differently.

    `thresholds` are the true positive rates that bound the bands, `weights` one weight for each.
    The weighted area is divided by what a perfect prediction has. As in Kaggle's ALASKA2.

    Raises:
        ValueError: the answers are not 0 and 1, or all the same.

    >>> weighted_roc_auc_score(np.array([0.0, 1.0]), np.array([0.1, 0.9]),
    ...                        thresholds=[0.0, 0.4, 1.0], weights=[2.0, 1.0])
    1.0
    """
    false, true = _curve(y_true, y_pred)
    area = width = 0.0
    for (low, high), weight in zip(pairwise(thresholds), weights, strict=True):
        cut = np.interp([low, high], true, false)
        inside = (true >= low) & (true <= high)
        x = np.concatenate([cut[:1] if low > 0 else [0.0], false[inside], cut[1:], [1.0]])
        y = np.concatenate([[low], true[inside], [high], [high]])
        order = np.lexsort((y, x))
        area += weight * float(np.trapezoid(y[order] - low, x[order]))
        width += weight * (high - low)
    return area / width


def _curve(y_true: FloatArray, y_pred: FloatArray) -> tuple[FloatArray, FloatArray]:
    """False and true positive rates, from (0, 0) on, with a point for each value predicted."""
    positive = y_true == 1.0
    if not (positive | (y_true == 0.0)).all():
        raise ValueError("the answers must be 0 or 1")
    count = int(np.count_nonzero(positive))
    if not 0 < count < len(positive):
        raise ValueError("AUC is undefined: the answers are all the same")
    order = np.argsort(-y_pred, kind="stable")
    ranked = y_pred[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    hits = np.cumsum(positive[order])[ends]
    false = (ends + 1 - hits) / (len(positive) - count)
    return np.append(0.0, false), np.append(0.0, hits / count)
