"""Answers and predictions for every metric and every way to set its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.metrics import METRICS, bind
from app.metrics.arrays import Boxes, Lists
from app.metrics.points import BOX, POINT
from app.resampling.metrics import plan_of
from app.resampling.plan import Plan
from tests.metrics.samples import CASES, as_read, random_offsets, required_parameters, sample

# Other values of parameters than the defaults, by metric.
OTHER: dict[str, list[dict[str, Any]]] = {
    "f1_score": [{"average": average} for average in ("micro", "weighted", "binary")],
    "precision_score": [{"average": average} for average in ("micro", "weighted", "binary")],
    "recall_score": [{"average": average} for average in ("micro", "weighted", "binary")],
    "fbeta_score": [
        {"beta": 2.0, "average": average} for average in ("micro", "weighted", "binary")
    ],
    "cohen_kappa_score": [
        {"weights": "linear"},
        {"weights": "quadratic"},
        {"weights": "quadratic", "labels": list(range(9))},
        {"labels": list(range(9))},
    ],
    "mean_absolute_error": [{"decimals": 2}],
    "symmetric_mean_absolute_percentage_error": [{"offset": 1.0}],
    "multilabel_f1_score": [{"average": "samples"}],
    "dice_score": [{"average": "micro"}, {"smooth": 1.0}],
    "mask_fbeta_score": [{"beta": 0.5}],
    "kl_divergence_loss": [{"epsilon": 1e-3}],
}


@dataclass(frozen=True)
class Case:
    """Answers and predictions of one metric."""

    name: str
    parameters: dict[str, Any]
    y_true: Any
    y_pred: Any

    def score(self, rows: np.ndarray | None = None) -> float:
        """The metric's own score, of all rows or of some; NaN where it is undefined."""
        if rows is None:
            return bind(self.name, self.parameters)(self.y_true, self.y_pred)
        taken = [
            side[rows] if isinstance(side, np.ndarray) else side.take(rows)
            for side in (self.y_true, self.y_pred)
        ]
        try:
            return bind(self.name, self.parameters)(*taken)
        except ValueError:
            return float("nan")

    def plan(self) -> Plan:
        return plan_of(self.name, self.parameters, self.y_true, self.y_pred)


def cases(seed: int = 0) -> list[Case]:
    """Every metric with every kind of column, its other parameters, and those of own forms."""
    found = [
        Case(name, required_parameters(METRICS[name]), one.y_true, one.y_pred)
        for name, kind, columns in CASES
        for one in (sample(name, kind, columns, seed),)
    ]
    for name, choices in OTHER.items():
        kinds = sorted(METRICS[name].kinds)
        for parameters in choices:
            is_binary = parameters.get("average") == "binary"
            kind = next(k for k in kinds if not is_binary or k in ("boolean", "integer"))
            if "labels" in parameters or "weights" in parameters:
                kind = "integer"
            one = sample(name, kind, 1, seed)
            found.append(Case(name, parameters, one.y_true, one.y_pred))
    return [*found, *own_forms(seed)]


def own_forms(seed: int) -> list[Case]:
    """The metrics that need a form of their own."""
    rng = np.random.default_rng(seed)
    rows = 60
    classes = np.eye(4)[rng.integers(0, 4, rows)]
    labels = (rng.random((rows, 5)) < 0.3).astype(float)
    ranks = rng.random((rows, 5)).round(1)
    binary, scores = rng.integers(0, 2, rows) * 1.0, rng.random(rows)
    sizes = rng.integers(0, 7, rows)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    orders = [np.concatenate([rng.permutation(size) for size in sizes]) for _ in range(2)]
    bands = {"thresholds": [0.0, 0.35, 0.4, 1.0], "weights": [2.0, 3.0, 1.0]}
    found = [
        ("argmax_accuracy_score", {}, classes, rng.dirichlet(np.ones(4), rows)),
        ("label_ranking_average_precision_score", {}, labels, ranks),
        ("label_ranking_average_precision_score", {"weights": "labels"}, labels, ranks),
        ("mean_angular_error", {}, rng.random((rows, 2)) * 3, rng.random((rows, 2)) * 3),
        ("kendall_tau_corrcoef", {}, Lists(orders[0], offsets), Lists(orders[1], offsets)),
        ("weighted_roc_auc_score", bands, binary, scores),
        ("weighted_roc_auc_score", bands, binary, scores.round(1)),
        ("point_in_box_f1_score", {}, *_boxes(rng, rows)),
    ]
    return [
        Case(name, parameters, *(as_read(side, 2) for side in (true, predicted)))
        for name, parameters, true, predicted in found
    ]


def _boxes(rng: np.random.Generator, rows: int) -> tuple[Boxes, Boxes]:
    of_boxes, of_points = random_offsets(rng, rows, 4), random_offsets(rng, rows, 4)
    boxes = np.column_stack(
        [rng.integers(0, 3, of_boxes[-1]), *rng.random((2, of_boxes[-1])),
         *(rng.random((2, of_boxes[-1])) + 0.3)]
    )  # fmt: skip
    points = np.column_stack(
        [rng.integers(0, 3, of_points[-1]), *(rng.random((2, of_points[-1])) * 2)]
    )
    return Boxes(boxes, of_boxes, BOX), Boxes(points, of_points, POINT)
