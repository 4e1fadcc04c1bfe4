"""Metrics: pure functions of answers and submission. Importing this fills the registry."""

from app.metrics import (
    binary,
    classification,
    correlation,
    directions,
    multilabel,
    points,
    precision_recall,
    probabilistic,
    ranking,
    regression,
    roc_bands,
    segmentation,
    text,
)
from app.metrics.registry import METRICS, Metric, bind, problems

__all__ = [
    "METRICS",
    "Metric",
    "binary",
    "bind",
    "classification",
    "correlation",
    "directions",
    "multilabel",
    "points",
    "precision_recall",
    "probabilistic",
    "problems",
    "ranking",
    "regression",
    "roc_bands",
    "segmentation",
    "text",
]
