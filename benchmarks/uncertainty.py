"""The noise of scores: 1,000 resamples of 100,000 rows, for each built-in metric.

Per metric: the seconds of processor time from decoded columns to the standard error in one thread,
the median of three, with random data of the kind that families of competitions have. Predictions
are continuous where the metric takes numbers, so that no rows are alike: that is the slowest case.
The aim is two seconds.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from app.metrics import METRICS
from app.metrics.arrays import Boxes, Lists, Masks
from app.metrics.points import BOX, POINT
from app.resampling.estimate import RESAMPLES, estimate
from app.resampling.metrics import REFUSED

ROWS, ROUNDS, PIXELS = 100_000, 3, 10_000
Pair = tuple[Any, Any]
Rng = np.random.Generator


def main(*names: str) -> None:
    print(f"Noise of scores: {ROWS:,} rows, {RESAMPLES:,} resamples")
    print(f"Seconds of processor time, medians of {ROUNDS}")
    slowest = 0.0
    for name, kind, parameters, (y_true, y_pred) in inputs():
        if name in REFUSED or (names and name not in names):
            continue
        taken = []
        for _ in range(ROUNDS):
            started = time.process_time()
            found = estimate(name, parameters, y_true, y_pred, None)
            taken.append(time.process_time() - started)
        done = "" if found.resamples == RESAMPLES else f"  only {found.resamples} resamples"
        slowest = max(slowest, median(taken))
        print(f"{name:<45}{kind:<22}{median(taken):>7.2f}{done}", flush=True)
    print(f"{'slowest':<67}{slowest:>7.2f}")


def inputs() -> list[tuple[str, str, dict[str, Any], Pair]]:
    """Each metric with the kind of its data, its parameters, and data."""
    rng = np.random.default_rng(1)
    number = rng.lognormal(size=ROWS)
    numbers = number, number * rng.lognormal(sigma=0.3, size=ROWS)
    binary = (rng.random(ROWS) < 0.3) * 1.0
    probabilities = binary, 1 / (1 + np.exp(-rng.normal(2 * binary - 1)))
    classes = rng.integers(0, 10, ROWS)
    guesses = np.where(rng.random(ROWS) < 0.7, classes, rng.integers(0, 10, ROWS))
    many = rng.integers(0, 5000, ROWS)
    one_hot = np.asfortranarray(np.eye(10)[classes])
    shares = np.asfortranarray(rng.dirichlet(np.ones(10), ROWS) / 2 + one_hot / 2)
    sets = (rng.random((ROWS, 10)) < 0.2) * 1.0
    angles = rng.random((ROWS, 2)) * 3, rng.random((ROWS, 2)) * 3
    words = np.array([f"some words {n} here" for n in range(1000)], dtype=object)
    texts = words[rng.integers(0, 1000, ROWS)], words[rng.integers(0, 1000, ROWS)]
    bands = {"thresholds": [0.0, 0.4, 1.0], "weights": [2.0, 1.0]}
    of_numbers = (
        "mean_squared_error", "root_mean_squared_error", "root_mean_squared_log_error",
        "mean_absolute_error", "median_absolute_error", "r2_score", "explained_variance_score",
        "symmetric_mean_absolute_percentage_error", "mean_absolute_percentage_error",
        "pearson_corrcoef", "spearman_corrcoef",
    )  # fmt: skip
    of_probabilities = (
        "roc_auc_score", "average_precision_score", "log_loss", "brier_score_loss",
        "probabilistic_f1_score", "kl_divergence_loss",
    )  # fmt: skip
    of_classes: dict[str, dict[str, Any]] = {
        "accuracy_score": {}, "f1_score": {}, "precision_score": {}, "recall_score": {},
        "fbeta_score": {"beta": 2.0}, "balanced_accuracy_score": {}, "matthews_corrcoef": {},
        "hamming_loss": {}, "cohen_kappa_score": {"weights": "quadratic"},
    }  # fmt: skip
    found: list[tuple[str, str, dict[str, Any], Pair]] = []
    found += [(name, "numbers", {}, numbers) for name in of_numbers]
    found += [(name, "probabilities", {}, probabilities) for name in of_probabilities]
    found += [("weighted_roc_auc_score", "probabilities", bands, probabilities)]
    found += [(name, "10 classes", given, (classes, guesses)) for name, given in of_classes.items()]
    guessed = np.where(rng.random(ROWS) < 0.7, many, rng.integers(0, 5000, ROWS))
    found += [("f1_score", "5,000 classes", {}, (many, guessed))]
    found += [("log_loss", "10 columns", {}, (one_hot, shares))]
    found += [("argmax_accuracy_score", "10 columns", {}, (one_hot, shares))]
    ranking = sets, rng.random((ROWS, 10))
    found += [("label_ranking_average_precision_score", "10 columns", {}, ranking)]
    found += [("mean_angular_error", "angles", {}, angles)]
    found += [("mean_levenshtein_error", "texts", {}, texts)]
    found += [("mean_word_jaccard_score", "texts", {}, texts)]
    lists = _lists(rng, 5), _lists(rng, 5)
    for name in ("multilabel_f1_score", "normalized_levenshtein_error"):
        found.append((name, "lists of 5", {}, lists))
    for name in ("mean_average_precision_at_k_score", "top_k_error"):
        found.append((name, "lists of 5", {"k": 5}, lists))
    found += [("kendall_tau_corrcoef", "orders of 10", {}, (_orders(rng), _orders(rng)))]
    masks = _masks(rng), _masks(rng)
    for name in ("dice_score", "jaccard_score", "mask_fbeta_score", "mean_iou_precision_score"):
        found.append((name, "masks of 3 runs", {}, masks))
    found += [("point_in_box_f1_score", "3 boxes", {}, _boxes(rng))]
    missing = sorted(set(METRICS) - set(REFUSED) - {name for name, *_ in found})
    if missing:
        raise ValueError(f"nothing is measured for {', '.join(missing)}")
    return found


def _lists(rng: Rng, length: int) -> Lists:
    return Lists(rng.integers(0, 50, ROWS * length), np.arange(0, ROWS * length + 1, length))


def _orders(rng: Rng) -> Lists:
    orders = np.argsort(rng.random((ROWS, 10)), axis=1)
    return Lists(orders.ravel(), np.arange(0, ROWS * 10 + 1, 10))


def _masks(rng: Rng) -> Masks:
    third = PIXELS // 3
    starts = np.arange(0, 3 * third, third) + rng.integers(0, third - 200, (ROWS, 3))
    lengths = rng.integers(1, 200, (ROWS, 3))
    return Masks(starts.ravel(), lengths.ravel(), np.arange(0, ROWS * 3 + 1, 3), PIXELS)


def _boxes(rng: Rng) -> tuple[Boxes, Boxes]:
    offsets = np.arange(0, ROWS * 3 + 1, 3)
    corners = rng.random((ROWS * 3, 2))
    labels = rng.integers(0, 4, ROWS * 3)
    boxes = np.column_stack([labels, corners, np.full((ROWS * 3, 2), 0.4)])
    points = np.column_stack([labels, corners + rng.random((ROWS * 3, 2)) * 0.5])
    return Boxes(boxes, offsets, BOX), Boxes(points, offsets, POINT)
