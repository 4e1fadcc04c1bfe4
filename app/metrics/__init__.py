"""Metrics: pure functions of answers and submission. Importing this fills the registry."""

from app.metrics import (
    classification,
    correlation,
    probabilistic,
    ranking,
    regression,
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
    "probabilistic",
    "problems",
    "ranking",
    "regression",
    "segmentation",
    "text",
]
