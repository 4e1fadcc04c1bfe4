"""Mean average precision at IoU above 0.5, all rows of a class pooled, as MLE-bench computes it: a
missed box stands as a positive with score 0, a row without the class as a negative with score 0,
and nothing is interpolated. No other competition counts so; Kaggle's own metric is PASCAL VOC's.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

IOU = 0.5
Box = tuple[str, float, np.ndarray]


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    truth, found = (
        [_boxes(text) for text in frame["PredictionString"]] for frame in (answers, submission)
    )
    labels = sorted({label for boxes in truth for label, _, _ in boxes})
    return float(np.mean([_precision(label, truth, found) for label in labels]))


def _boxes(text: str) -> list[Box]:
    tokens = text.split()
    return [
        (tokens[i], float(tokens[i + 1]), np.array(tokens[i + 2 : i + 6], dtype=float))
        for i in range(0, len(tokens), 6)
    ]


def _precision(label: str, truth: list[list[Box]], found: list[list[Box]]) -> float:
    hits: list[int] = []
    scores: list[float] = []
    for true, predicted in zip(truth, found, strict=True):
        free = [box for name, _, box in true if name == label]
        own = [(score, box) for name, score, box in predicted if name == label]
        if not free and not own:
            hits.append(0)
            scores.append(0.0)
            continue
        for confidence, box in sorted(own, key=lambda pair: -pair[0]):
            overlaps = [_overlap(box, other) for other in free]
            best = int(np.argmax(overlaps)) if overlaps else -1
            is_hit = bool(overlaps) and overlaps[best] > IOU
            if is_hit:
                del free[best]
            hits.append(int(is_hit))
            scores.append(confidence)
        hits += [1] * len(free)
        scores += [0.0] * len(free)
    return float(average_precision_score(hits, scores))


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    shared = max(width, 0.0) * max(height, 0.0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / union if union > 0 else 0.0
