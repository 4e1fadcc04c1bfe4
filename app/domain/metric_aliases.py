"""Common short names of metrics, for error messages that say how Podium names them."""

from __future__ import annotations

ALIASES = {
    "acc": "accuracy_score", "accuracy": "accuracy_score",
    "categorization_accuracy": "accuracy_score",
    "auc": "roc_auc_score", "auroc": "roc_auc_score", "roc_auc": "roc_auc_score",
    "average_precision": "average_precision_score", "pr_auc": "average_precision_score",
    "auprc": "average_precision_score",
    "balanced_accuracy": "balanced_accuracy_score", "bac": "balanced_accuracy_score",
    "brier": "brier_score_loss", "brier_score": "brier_score_loss",
    "cross_entropy": "log_loss", "bce": "log_loss", "logloss": "log_loss",
    "multiclass_loss": "log_loss", "log": "log_loss",
    "dice": "dice_score", "dice_coefficient": "dice_score",
    "explained_variance": "explained_variance_score", "fbeta": "fbeta_score",
    "hamming": "hamming_loss", "mape": "mean_absolute_percentage_error",
    "precision": "precision_score", "recall": "recall_score",
    "f1": "f1_score", "macro_f1": "f1_score", "micro_f1": "f1_score",
    "iou": "jaccard_score", "jaccard": "jaccard_score",
    "kappa": "cohen_kappa_score", "qwk": "cohen_kappa_score",
    "quadratic_weighted_kappa": "cohen_kappa_score",
    "kendall": "kendall_tau_corrcoef", "kendall_tau": "kendall_tau_corrcoef",
    "kl": "kl_divergence_loss", "kl_divergence": "kl_divergence_loss",
    "levenshtein": "mean_levenshtein_error", "edit_distance": "mean_levenshtein_error",
    "lwlrap": "label_ranking_average_precision_score",
    "lrap": "label_ranking_average_precision_score",
    "mae": "mean_absolute_error", "l1": "mean_absolute_error",
    "map": "mean_average_precision_at_k_score", "mapk": "mean_average_precision_at_k_score",
    "map_at_k": "mean_average_precision_at_k_score",
    "mcc": "matthews_corrcoef", "matthews": "matthews_corrcoef",
    "medae": "median_absolute_error",
    "mse": "mean_squared_error", "l2": "mean_squared_error",
    "pearson": "pearson_corrcoef", "pearsonr": "pearson_corrcoef",
    "r2": "r2_score", "r_squared": "r2_score",
    "rmse": "root_mean_squared_error", "root_mean_square": "root_mean_squared_error",
    "rmsle": "root_mean_squared_log_error",
    "smape": "symmetric_mean_absolute_percentage_error",
    "spearman": "spearman_corrcoef", "spearmanr": "spearman_corrcoef",
}  # fmt: skip
ENDINGS = ("_score", "_error", "_loss", "_corrcoef", "_metric")


def metric_of(name: str) -> str | None:
    """Podium's name of a metric that has a common short name, with or without an ending.

    >>> metric_of("RMSE"), metric_of("mae_error"), metric_of("auc@x"), metric_of("my_score")
    ('root_mean_squared_error', 'mean_absolute_error', 'roc_auc_score', None)
    """
    short = name.strip().lower().replace("-", "_").replace(" ", "_").partition("@")[0]
    for ending in ("", *ENDINGS):
        if ending and not short.endswith(ending):
            continue
        found = ALIASES.get(short.removesuffix(ending))
        if found is not None and found != name:
            return found
    return None
