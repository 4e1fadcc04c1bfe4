"""Mean average precision of upright 3-D boxes over ten IoU thresholds, per sample and class: only
this competition has 3-D boxes. As in MLE-bench and the nuScenes development kit it follows: the
classes in a sample's answers are averaged, and boxes of others cost nothing.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

THRESHOLDS = np.round(np.arange(0.5, 1.0, 0.05), 2)
TINY = np.finfo(float).eps
ROUNDING = 1e-6  # far more than the rounding of a volume
CONFIDENCE, X, Y, Z, WIDTH, LENGTH, HEIGHT, YAW, CLASS = range(9)
AT_ONCE = 200_000  # pairs of boxes: bounds the memory, whatever is submitted
CLASSES = 64


@dataclass(frozen=True)
class Truth:
    """The true boxes, ordered by sample and class; a group is one class in one sample."""

    boxes: np.ndarray
    groups: np.ndarray  # sample * CLASSES + class, ascending
    starts: np.ndarray  # where each group's boxes begin, and the end
    weights: np.ndarray  # what each group's precision counts in the score


def prepare(answers: pd.DataFrame) -> Truth:
    boxes, group = _boxes(answers)
    order = np.argsort(group, kind="stable")
    groups, starts = np.unique(group[order], return_index=True)
    in_sample = np.bincount(groups // CLASSES, minlength=len(answers))
    if not in_sample.all():
        raise ValueError("a sample of the answers has no box")
    weights = 1.0 / in_sample[groups // CLASSES] / len(answers)
    return Truth(boxes[order], groups, np.append(starts, len(group)), weights)


def score(truth: Truth, submission: pd.DataFrame) -> float:
    boxes, group = _boxes(submission)
    place = np.minimum(np.searchsorted(truth.groups, group), len(truth.groups) - 1)
    known = np.flatnonzero(truth.groups[place] == group)
    boxes, place = boxes[known], place[known]
    order = np.lexsort((-boxes[:, CONFIDENCE], place))
    boxes, place = boxes[order], place[order]
    overlap, other = _best(boxes, place, truth)
    return float(np.mean([_precision(truth, place, overlap, other, t) for t in THRESHOLDS]))


def _boxes(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """All boxes, and the group of each."""
    boxes = frame.attrs["file"].arrays["PredictionString"]
    sample = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
    return boxes.values, sample * CLASSES + boxes.values[:, CLASS].astype(np.int64)


def _best(boxes: np.ndarray, place: np.ndarray, truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    """For each box the largest IoU with a true one of its group, and the first that has it."""
    counts = np.diff(truth.starts)[place]
    best, other = np.zeros(len(boxes)), truth.starts[place].copy()
    ends = np.cumsum(counts)
    start = 0
    while start < len(boxes):
        before = ends[start] - counts[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
        some = counts[start:stop]
        left = np.repeat(np.arange(start, stop), some)
        firsts = np.cumsum(some) - some
        right = np.arange(some.sum()) - np.repeat(firsts - truth.starts[place[start:stop]], some)
        overlaps = _overlaps(boxes[left], truth.boxes[right])
        best[start:stop] = np.maximum.reduceat(overlaps, firsts)
        is_best = np.flatnonzero(overlaps == best[left])
        # The first of each box: written last, since later writes win.
        other[left[is_best[::-1]]] = right[is_best[::-1]]
        start = stop
    return best, other


def _precision(
    truth: Truth, place: np.ndarray, overlap: np.ndarray, other: np.ndarray, threshold: float
) -> float:
    """The average precision of all groups, weighted."""
    above = np.flatnonzero(overlap > threshold)
    hits = np.zeros(len(overlap), dtype=bool)
    _, first = np.unique(other[above], return_index=True)
    hits[above[first]] = True
    starts = np.searchsorted(place, place)
    true = np.cumsum(hits)
    true = true - (true - hits)[starts]
    precision = true / np.maximum(np.arange(1, len(place) + 1) - starts, TINY)
    # From each box on the largest within its group, by steps of one, two, four boxes and so on.
    step, longest = 1, int(np.bincount(place).max(initial=0))
    while step < longest:
        same = place[step:] == place[:-step]
        np.maximum(precision[:-step], np.where(same, precision[step:], 0.0), out=precision[:-step])
        step *= 2
    share = truth.weights[place] / np.diff(truth.starts)[place]
    return float(precision[hits] @ share[hits])


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IoU, pair by pair, of boxes that stand upright and are turned by their yaw.

    It is 0 where it cannot exceed the lowest threshold: that the shared volume is more than a third
    of both. Otherwise a file of boxes over all others takes a hundred times as long as a good one.
    """
    top = np.minimum(a[:, Z] + a[:, HEIGHT] / 2, b[:, Z] + b[:, HEIGHT] / 2)
    height = top - np.maximum(a[:, Z] - a[:, HEIGHT] / 2, b[:, Z] - b[:, HEIGHT] / 2)
    reach = np.hypot(a[:, WIDTH], a[:, LENGTH]) + np.hypot(b[:, WIDTH], b[:, LENGTH])
    apart = np.hypot(a[:, X] - b[:, X], a[:, Y] - b[:, Y])
    volumes = a[:, WIDTH:YAW].prod(axis=1) + b[:, WIDTH:YAW].prod(axis=1)
    most = np.minimum(a[:, WIDTH] * a[:, LENGTH], b[:, WIDTH] * b[:, LENGTH]) * height
    too_unlike = 3.0 * most < (1.0 - ROUNDING) * volumes
    near = np.flatnonzero((height > 0) & (apart <= reach / 2) & ~too_unlike)
    shared = _shared_area(a[near], b[near]) * height[near]
    overlaps = np.zeros(len(height))
    overlaps[near] = np.clip(shared / (volumes[near] - shared), 0.0, 1.0)
    return overlaps


def _corners(boxes: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """The corners on the ground, counter-clockwise; the length points where the box heads."""
    cos, sin = np.cos(boxes[:, YAW]), np.sin(boxes[:, YAW])
    u = boxes[:, LENGTH, None] / 2 * np.array([1, -1, -1, 1])
    v = boxes[:, WIDTH, None] / 2 * np.array([1, 1, -1, -1])
    x, y = boxes[:, X] - centre[:, 0], boxes[:, Y] - centre[:, 1]
    turned = (
        x[:, None] + u * cos[:, None] - v * sin[:, None],
        y[:, None] + u * sin[:, None] + v * cos[:, None],
    )
    return np.stack(turned, axis=2)


def _shared_area(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The ground that two boxes share: one is cut by the other's sides (Sutherland and Hodgman)."""
    if not len(a):
        return np.zeros(0)
    centre = b[:, X : Y + 1]  # far from the origin little would be left of the digits
    polygon, window = _corners(a, centre), _corners(b, centre)
    count = np.full(len(a), 4)
    for side in range(4):
        polygon, count = _cut(polygon, count, window[:, side], window[:, (side + 1) % 4])
    x, y = polygon[:, :, 0], polygon[:, :, 1]
    return np.abs((x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y).sum(axis=1)) / 2


def _cut(polygon: np.ndarray, count: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple:
    """The polygons' parts to the left of a line each; missing corners repeat the last one."""
    along = (end - start)[:, None, :]
    across = polygon - start[:, None, :]
    here = along[:, :, 0] * across[:, :, 1] - along[:, :, 1] * across[:, :, 0]
    before, previous = np.roll(here, 1, axis=1), np.roll(polygon, 1, axis=1)
    crosses = (here < 0) != (before < 0)
    part = np.divide(before, before - here, out=np.zeros_like(here), where=crosses)
    crossing = previous + part[:, :, None] * (polygon - previous)
    # Every corner gives at most the crossing before it and itself, in this order.
    pairs, corners = here.shape
    points = np.stack([crossing, polygon], axis=2).reshape(pairs, 2 * corners, 2)
    there = np.arange(corners) < count[:, None]
    is_kept = np.stack([crosses, (here >= 0) & there], axis=2).reshape(pairs, 2 * corners)
    count = is_kept.sum(axis=1)
    order = np.argsort(~is_kept, axis=1, kind="stable")[:, : corners + 1]
    order = np.take_along_axis(
        order, np.minimum(np.arange(corners + 1), np.maximum(count - 1, 0)[:, None]), axis=1
    )
    kept = np.take_along_axis(points, order[:, :, None], axis=1)
    return np.where(count[:, None, None] > 0, kept, 0.0), count
