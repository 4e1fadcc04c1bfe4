"""Mean average precision at IoU above 0.5, all rows of a class pooled, as MLE-bench computes it: a
missed box stands as a positive with score 0, a row without the class as a negative with score 0,
and nothing is interpolated. No other competition counts so; Kaggle's own metric is PASCAL VOC's.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

IOU = 0.5
LABEL, CONFIDENCE = 0, 1
Side = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Truth:
    """The true boxes (label, confidence, corners) by row, and the labels that occur."""

    boxes: Side
    labels: np.ndarray


def prepare(answers: pd.DataFrame) -> Truth:
    values, rows = _boxes(answers)
    return Truth((values, rows), np.unique(values[:, LABEL]))


def score(truth: Truth, submission: pd.DataFrame) -> float:
    found = _boxes(submission)
    rows = len(submission)
    return float(np.mean([_precision(label, truth.boxes, found, rows) for label in truth.labels]))


def _boxes(frame: pd.DataFrame) -> Side:
    """All boxes, and the row of each."""
    boxes = frame.attrs["file"].arrays["PredictionString"]
    return boxes.values, np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))


def _precision(label: float, truth: Side, found: Side, rows: int) -> float:
    true, row = _of_label(label, *truth)
    own, own_row = _of_label(label, *found)
    # Within a row the boldest first, and of equally bold ones the first in the file.
    order = np.lexsort((-own[:, CONFIDENCE], own_row))
    own, own_row = own[order], own_row[order]
    hits = _hits(own, own_row, true, row)
    missed = len(true) - int(np.count_nonzero(hits))
    empty = rows - len(np.union1d(row, own_row))
    is_true = np.concatenate([hits, np.ones(missed), np.zeros(empty)])
    return _average_precision(is_true, np.append(own[:, CONFIDENCE], np.zeros(missed + empty)))


def _of_label(label: float, values: np.ndarray, rows: np.ndarray) -> Side:
    own = values[:, LABEL] == label
    return values[own], rows[own]


def _hits(own: np.ndarray, own_row: np.ndarray, true: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Which boxes find a true one: each takes the one that is still free and overlaps it most."""
    first, last = np.searchsorted(row, own_row, "left"), np.searchsorted(row, own_row, "right")
    counts = last - first
    left = np.repeat(np.arange(len(own)), counts)
    right = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - first, counts)
    overlaps = _overlaps(own[left, 2:], true[right, 2:])
    near = overlaps > IOU
    left, right, overlaps = left[near], right[near], overlaps[near]
    order = np.lexsort((-overlaps, left))
    hits = np.zeros(len(own), dtype=bool)
    taken: set[int] = set()
    for box, other in zip(left[order].tolist(), right[order].tolist(), strict=True):
        if not hits[box] and other not in taken:
            hits[box] = True
            taken.add(other)
    return hits


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IoU, pair by pair; 0 where both are empty."""
    width = np.minimum(a[:, 2], b[:, 2]) - np.maximum(a[:, 0], b[:, 0])
    height = np.minimum(a[:, 3], b[:, 3]) - np.maximum(a[:, 1], b[:, 1])
    shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    union = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    union = union + (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) - shared
    return np.divide(shared, union, out=np.zeros(len(a)), where=union > 0)


def _average_precision(is_true: np.ndarray, scores: np.ndarray) -> float:
    """The sum of the steps of recall times the precision there, a step for each distinct score."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    true = np.cumsum(is_true[order])[ends]
    return float(np.diff(true, prepend=0.0) @ (true / (ends + 1)) / true[-1])
