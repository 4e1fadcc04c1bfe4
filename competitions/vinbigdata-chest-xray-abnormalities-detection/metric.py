"""COCO's average precision at IoU 0.4 as MLE-bench computes it: corners are handed over where COCO
expects width and height; the first box of the answers file can never be found, and what the first
box of the submission finds may be found again, because the number 0 stands for nothing there. No
other competition counts so. Source of the method: pycocotools.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

IOU, MOST_BOXES, LARGEST_AREA = 0.4, 100, 1e10
RECALLS = np.linspace(0.0, 1.0, 101)
TINY = np.spacing(1)
LABEL, CONFIDENCE = 0, 1


@dataclass(frozen=True)
class Side:
    """Boxes in the order of images in the answers file: values, image, whether the file's first."""

    values: np.ndarray
    image: np.ndarray
    is_first: np.ndarray

    def take(self, which: np.ndarray) -> "Side":
        return Side(self.values[which], self.image[which], self.is_first[which])


@dataclass(frozen=True)
class Truth:
    """The true boxes by class, and each row's place in the answers file."""

    by_class: list[tuple[float, Side]]
    place: np.ndarray


def prepare(answers: pd.DataFrame) -> Truth:
    place = np.argsort(np.argsort(answers.attrs["file"].rows))
    boxes = _side(answers, place)
    labels = boxes.values[:, LABEL]
    return Truth([(label, boxes.take(labels == label)) for label in np.unique(labels)], place)


def score(truth: Truth, submission: pd.DataFrame) -> float:
    found = _side(submission, truth.place)
    labels = found.values[:, LABEL]
    return float(
        np.mean([_precision(true, found.take(labels == label)) for label, true in truth.by_class])
    )


def _side(frame: pd.DataFrame, place: np.ndarray) -> Side:
    # Images count in the order of the answers file; ties between them depend on it.
    file = frame.attrs["file"]
    boxes = file.arrays["PredictionString"]
    image = np.repeat(place, np.diff(boxes.offsets))
    is_first = np.arange(len(image)) == boxes.offsets[np.argmin(file.rows)]
    return Side(boxes.values, image, is_first).take(np.argsort(image, kind="stable"))


def _precision(true: Side, found: Side) -> float:
    kept = _is_counted(true.values)
    positives = int(kept.sum())
    if not positives:
        return 0.0
    found = _best_first(found)
    match = _match(found, true, kept)
    # The first box of all has the number 0, which stands for "nothing found".
    hit = (match >= 0) & ~true.is_first[match]
    ignored = ((match >= 0) & ~kept[match]) | (~hit & ~_is_counted(found.values))
    order = np.argsort(-found.values[:, CONFIDENCE], kind="stable")
    hit, count = hit[order], ~ignored[order]
    right, wrong = np.cumsum(hit & count), np.cumsum(~hit & count)
    precision = right / (right + wrong + TINY)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(right / positives, RECALLS, side="left")
    return float(np.append(precision, 0.0)[np.minimum(places, len(precision))].mean())


def _is_counted(boxes: np.ndarray) -> np.ndarray:
    area = (boxes[:, 4] - boxes[:, 2]) * (boxes[:, 5] - boxes[:, 3])
    return (area >= 0) & (area <= LARGEST_AREA)


def _best_first(found: Side) -> Side:
    """Within each image the boldest first, and no more than are looked at."""
    order = np.lexsort((-found.values[:, CONFIDENCE], found.image))
    rank = np.arange(len(order)) - np.searchsorted(found.image, found.image)
    return found.take(order[rank < MOST_BOXES])


def _match(found: Side, true: Side, kept: np.ndarray) -> np.ndarray:
    """For each box the true box that it finds, or -1; of equal ones the last.

    A box that is the first of its file leaves its true box to be found again.
    """
    first = np.searchsorted(true.image, found.image, "left")
    counts = np.searchsorted(true.image, found.image, "right") - first
    left = np.repeat(np.arange(len(counts)), counts)
    right = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - first, counts)
    overlaps = _overlaps(found.values[left, 2:], true.values[right, 2:])
    near = overlaps >= IOU
    left, right, overlaps = left[near], right[near], overlaps[near]
    # Boxes that do not count are only found where no other is.
    order = np.lexsort((-right, -overlaps, ~kept[right], left))
    match = np.full(len(counts), -1)
    taken: set[int] = set()
    for box, other in zip(left[order].tolist(), right[order].tolist(), strict=True):
        if match[box] < 0 and other not in taken:
            match[box] = other
            if not found.is_first[box]:
                taken.add(other)
    return match


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IoU of rectangles given as x, y, width and height, pair by pair."""
    wide = np.minimum(a[:, 0] + a[:, 2], b[:, 0] + b[:, 2]) - np.maximum(a[:, 0], b[:, 0])
    high = np.minimum(a[:, 1] + a[:, 3], b[:, 1] + b[:, 3]) - np.maximum(a[:, 1], b[:, 1])
    shared = np.maximum(wide, 0.0) * np.maximum(high, 0.0)
    union = a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3] - shared
    return np.divide(shared, union, out=np.zeros(len(a)), where=union != 0.0)
