"""Metrics: pure functions of answers and submission. Importing this fills the registry."""

from app.metrics import (
    classification,
    correlation,
    directions,
    multilabel,
    points,
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
    "bind",
    "classification",
    "correlation",
    "directions",
    "multilabel",
    "points",
    "probabilistic",
    "problems",
    "ranking",
    "regression",
    "roc_bands",
    "segmentation",
    "text",
]
