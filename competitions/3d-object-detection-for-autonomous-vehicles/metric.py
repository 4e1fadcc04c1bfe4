"""Mean average precision of upright 3-D boxes over ten IoU thresholds, per sample and class: only
this competition has 3-D boxes. As in MLE-bench and the nuScenes development kit it follows: the
classes in a sample's answers are averaged, and boxes of others cost nothing.
"""

import numpy as np
import pandas as pd

THRESHOLDS = np.round(np.arange(0.5, 1.0, 0.05), 2)
TINY = np.finfo(float).eps


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    pairs = zip(answers["PredictionString"], submission["PredictionString"], strict=True)
    return float(
        np.mean([_sample(_boxes(true), _boxes(found)) for true, found in pairs], axis=0).mean()
    )


def _boxes(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Classes and numbers: confidence, centre, width, length, height and yaw."""
    tokens = np.array(text.split(), dtype=object).reshape(-1, 9)
    return tokens[:, 8], tokens[:, :8].astype(float)


def _sample(true: tuple, found: tuple) -> np.ndarray:
    """For each threshold, the mean over the classes of the answers of the average precision."""
    precisions = []
    for name in np.unique(true[0].astype(str)):
        boxes, own = true[1][true[0] == name], found[1][found[0] == name]
        own = own[np.argsort(-own[:, 0], kind="stable")]
        overlaps = np.array([[_overlap(a, b) for b in boxes] for a in own])
        precisions.append(
            [_precision(overlaps.reshape(len(own), len(boxes)), len(boxes), t) for t in THRESHOLDS]
        )
    if not precisions:
        raise ValueError("a sample of the answers has no box")
    return np.mean(precisions, axis=0)


def _precision(overlaps: np.ndarray, boxes: int, threshold: float) -> float:
    taken = np.zeros(boxes, dtype=bool)
    hits = np.zeros(len(overlaps), dtype=bool)
    for place, row in enumerate(overlaps):
        best = int(np.argmax(row))
        if row[best] > threshold and not taken[best]:
            taken[best] = hits[place] = True
    true = np.cumsum(hits)
    recall = np.concatenate([[0.0], true / boxes, [1.0]])
    precision = np.concatenate([[0.0], true / np.maximum(np.arange(1, len(hits) + 1), TINY), [0.0]])
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(recall) * precision[1:]))


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    """IoU of two boxes that stand upright and are turned by their yaw."""
    height = min(a[3] + a[6] / 2, b[3] + b[6] / 2) - max(a[3] - a[6] / 2, b[3] - b[6] / 2)
    reach = np.hypot(a[4], a[5]) + np.hypot(b[4], b[5])
    if height <= 0 or np.hypot(a[1] - b[1], a[2] - b[2]) > reach / 2:
        return 0.0
    shared = _area(_cut(_corners(a), _corners(b))) * height
    return float(np.clip(shared / (a[4:7].prod() + b[4:7].prod() - shared), 0.0, 1.0))


def _corners(box: np.ndarray) -> list[tuple[float, float]]:
    """The corners on the ground, counter-clockwise; the length points where the box heads."""
    x, y, width, length, yaw = box[1], box[2], box[4], box[5], box[7]
    cos, sin = np.cos(yaw), np.sin(yaw)
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    half = [(u * length / 2, v * width / 2) for u, v in signs]
    return [(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in half]


def _cut(polygon: list, window: list) -> list:
    """The part of a convex polygon within another one (Sutherland and Hodgman)."""
    for (ax, ay), (bx, by) in zip(window, window[1:] + window[:1], strict=True):
        sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in polygon]
        kept = []
        for place, (x, y) in enumerate(polygon):
            (px, py), here, before = polygon[place - 1], sides[place], sides[place - 1]
            if (here < 0) != (before < 0):
                part = before / (before - here)
                kept.append((px + part * (x - px), py + part * (y - py)))
            if here >= 0:
                kept.append((x, y))
        polygon = kept
    return polygon


def _area(polygon: list) -> float:
    if len(polygon) < 3:
        return 0.0
    ox, oy = polygon[0]  # from a corner: far from the origin little would be left of the digits
    x, y = np.array(polygon).T
    x, y = x - ox, y - oy
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
