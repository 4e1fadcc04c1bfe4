"""COCO's average precision at IoU 0.4 as MLE-bench computes it: corners are handed over where COCO
expects width and height; the first box of the answers file can never be found, and what the first
box of the submission finds may be found again, because the number 0 stands for nothing there. No
other competition counts so. Source of the method: pycocotools.
"""

import numpy as np
import pandas as pd

IOU, MOST_BOXES, LARGEST_AREA = 0.4, 100, 1e10
RECALLS = np.linspace(0.0, 1.0, 101)
TINY = np.spacing(1)


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # Images count in the order of the answers file; ties between them depend on it.
    order = np.argsort(answers.attrs["file"].rows)
    truth, found = (
        [_boxes(frame["PredictionString"].iloc[row]) for row in order]
        for frame in (answers, submission)
    )
    classes = np.unique(np.concatenate([boxes[:, 0] for boxes in truth]))
    first = np.flatnonzero(submission.attrs["file"].rows[order] == 0)[0]
    return float(np.mean([_precision(label, truth, found, first) for label in classes]))


def _boxes(text: str) -> np.ndarray:
    return np.array(text.split(), dtype=float).reshape(-1, 6)


def _precision(label: float, truth: list[np.ndarray], found: list[np.ndarray], first: int) -> float:
    scores, hits, counted = [], [], []
    positives = 0
    for image, (true, predicted) in enumerate(zip(truth, found, strict=True)):
        is_own = true[:, 0] == label
        own = true[is_own]
        kept = _is_counted(own)
        positives += int(kept.sum())
        of_class = np.flatnonzero(predicted[:, 0] == label)
        of_class = of_class[np.argsort(-predicted[of_class, 1], kind="stable")][:MOST_BOXES]
        boxes = predicted[of_class]
        match = _match(boxes, own, kept, (of_class == 0) & (image == first))
        # The first box of all has the number 0, which stands for "nothing found".
        lost = np.flatnonzero(is_own) == 0 if image == 0 else np.zeros(len(own), dtype=bool)
        hit = np.array([m >= 0 and not lost[m] for m in match], dtype=bool)
        ignored = np.array([not kept[m] if m >= 0 else False for m in match], dtype=bool)
        ignored |= ~hit & ~_is_counted(boxes)
        scores.append(boxes[:, 1])
        hits.append(hit)
        counted.append(~ignored)
    if not positives:
        return 0.0
    order = np.argsort(-np.concatenate(scores), kind="stable")
    hit, count = np.concatenate(hits)[order], np.concatenate(counted)[order]
    true, false = np.cumsum(hit & count), np.cumsum(~hit & count)
    precision = true / (true + false + TINY)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(true / positives, RECALLS, side="left")
    return float(np.append(precision, 0.0)[np.minimum(places, len(precision))].mean())


def _is_counted(boxes: np.ndarray) -> np.ndarray:
    area = (boxes[:, 4] - boxes[:, 2]) * (boxes[:, 5] - boxes[:, 3])
    return (area >= 0) & (area <= LARGEST_AREA)


def _match(boxes: np.ndarray, own: np.ndarray, kept: np.ndarray, leaves: np.ndarray) -> list[int]:
    """For each box, best first, the true box it finds, or -1; of equal ones the last.

    A box that `leaves` leaves its true box to be found again.
    """
    overlaps = _overlaps(boxes[:, 2:], own[:, 2:])
    free = np.ones(len(own), dtype=bool)
    match = []
    for row, leaves_free in zip(overlaps, leaves, strict=True):
        best, chosen = min(IOU, 1 - 1e-10), -1
        # Boxes that do not count are only found where no other is.
        for place in [*np.flatnonzero(kept), *np.flatnonzero(~kept)]:
            if chosen >= 0 and kept[chosen] and not kept[place]:
                break
            if free[place] and row[place] >= best:
                best, chosen = row[place], int(place)
        if chosen >= 0:
            free[chosen] = leaves_free
        match.append(chosen)
    return match


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IoU of rectangles given as x, y, width and height."""
    wide = np.minimum(a[:, None, 0] + a[:, None, 2], b[:, 0] + b[:, 2])
    wide -= np.maximum(a[:, None, 0], b[:, 0])
    high = np.minimum(a[:, None, 1] + a[:, None, 3], b[:, 1] + b[:, 3])
    high -= np.maximum(a[:, None, 1], b[:, 1])
    shared = np.maximum(wide, 0.0) * np.maximum(high, 0.0)
    return shared / (a[:, None, 2] * a[:, None, 3] + b[:, 2] * b[:, 3] - shared)
