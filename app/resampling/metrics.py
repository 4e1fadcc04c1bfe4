"""The plan of each built-in metric, and a slow plan for those without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.metrics import bind
from app.metrics.arrays import FloatArray
from app.resampling import classes, correlations, curves, losses, structures
from app.resampling.plan import Plan

PLANS: Mapping[str, Callable[..., Plan]] = {
    "accuracy_score": losses.accuracy,
    "argmax_accuracy_score": losses.argmax_accuracy,
    "average_precision_score": curves.average_precisions,
    "balanced_accuracy_score": classes.balanced_accuracy,
    "brier_score_loss": losses.brier,
    "cohen_kappa_score": classes.kappa,
    "dice_score": structures.dice,
    "explained_variance_score": correlations.explained_variance,
    "f1_score": classes.f1,
    "fbeta_score": classes.fbeta,
    "hamming_loss": losses.hamming,
    "jaccard_score": structures.jaccard,
    "kendall_tau_corrcoef": structures.kendall,
    "kl_divergence_loss": losses.divergences,
    "label_ranking_average_precision_score": structures.label_precision,
    "log_loss": losses.log_losses,
    "mask_fbeta_score": structures.mask_fbeta,
    "matthews_corrcoef": classes.matthews,
    "mean_absolute_error": losses.absolutes,
    "mean_absolute_percentage_error": losses.shares_of_answers,
    "mean_angular_error": losses.angles,
    "mean_average_precision_at_k_score": structures.map_at_k,
    "mean_iou_precision_score": structures.iou_precision,
    "mean_levenshtein_error": structures.edits,
    "mean_squared_error": losses.squares,
    "mean_word_jaccard_score": structures.words,
    "median_absolute_error": correlations.median_absolute,
    "multilabel_f1_score": structures.multilabel_f1,
    "normalized_levenshtein_error": structures.edits_of_lists,
    "pearson_corrcoef": correlations.pearson,
    "point_in_box_f1_score": structures.points_in_boxes,
    "precision_score": classes.precision,
    "probabilistic_f1_score": losses.probabilistic_f1,
    "r2_score": correlations.r2,
    "recall_score": classes.recall,
    "roc_auc_score": curves.areas,
    "root_mean_squared_error": losses.roots_of_squares,
    "root_mean_squared_log_error": losses.log_squares,
    "spearman_corrcoef": correlations.spearman,
    "symmetric_mean_absolute_percentage_error": losses.percents_of_size,
    "top_k_error": structures.top_k,
    "weighted_roc_auc_score": curves.banded_area,
}
# Metrics for which resampling is meaningless, and why.
REFUSED: Mapping[str, str] = {
    "max_error": "the largest error is that of a single row: whether that row is drawn again says "
    "nothing of the error on other rows",
}


def plan_of(name: str, parameters: Mapping[str, Any], y_true: Any, y_pred: Any) -> Plan:
    """The plan of a built-in metric.

    Raises:
        ValueError: there is no such metric, or it is not defined for these answers.
    """
    found = PLANS.get(name)
    if found is not None:
        return found(y_true, y_pred, **parameters)
    return slow_plan(bind(name, parameters), y_true, y_pred)


def slow_plan(metric: Callable[[Any, Any], float], y_true: Any, y_pred: Any) -> Plan:
    """A plan that calls the metric with the drawn rows, for each resample."""
    rows = len(y_true)

    def score(weights: FloatArray) -> FloatArray:
        return np.array([of_drawn(row) for row in weights])

    def of_drawn(weights: FloatArray) -> float:
        drawn = np.repeat(np.arange(rows), weights.astype(np.int64))
        try:
            return metric(_take(y_true, drawn), _take(y_pred, drawn))
        except ValueError:  # the metric raises this if it is undefined
            return float("nan")

    return Plan(rows, rows, None, score)


def _take(values: Any, rows: Any) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else values.take(rows)
