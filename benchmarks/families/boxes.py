"""Families of boxes and points."""

from __future__ import annotations

import math

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks.families.family import Data, Family, aligned, hexes

STUDIES = ("negative", "typical", "indeterminate", "atypical")
VEHICLES = (
    "car", "pedestrian", "truck", "bicycle", "bus", "motorcycle", "other_vehicle", "animal",
    "emergency_vehicle",
)  # fmt: skip
SIZES = ((0, 1e10), (0, 32**2), (32**2, 96**2), (96**2, 1e10))  # in pixels
RECALLS = np.linspace(0, 1, 101)


def text_of(boxes):
    return " ".join(str(part) for box in boxes for part in box)


def corners(rng, size):
    x, y = rng.random(2) * size * 0.7
    width, height = (0.05 + 0.25 * rng.random(2)) * size
    return [round(float(v), 1) for v in (x, y, x + width, y + height)]


def moved(rng, box, by):
    shifted = [v + float(d) for v, d in zip(box, rng.normal(0, by, 4), strict=True)]
    (x1, x2), (y1, y2) = sorted(shifted[0::2]), sorted(shifted[1::2])
    return [round(v, 1) for v in (x1, y1, x2, y2)]


def chests(rng, rows):
    ids = hexes(rng, rows, 32)
    truth, guess = [], []
    for _ in range(rows):
        count = rng.integers(0, 9) if rng.random() < 0.3 else 0
        true = [[int(rng.integers(0, 14)), 1.0, *corners(rng, 2500)] for _ in range(count)]
        found = [
            [label, round(float(rng.random()), 3), *moved(rng, box, 60)] for label, _, *box in true
        ]
        found += [
            [int(rng.integers(0, 14)), round(float(rng.random() / 2), 3), *corners(rng, 2500)]
            for _ in range(rng.integers(0, 8))
        ]
        found.append([14, round(float(rng.random()), 3), 0, 0, 1, 1])
        truth.append(text_of(true or [[14, 1.0, 0, 0, 1, 1]]))
        guess.append(text_of(found))
    return Data(
        {"image_id": ids, "PredictionString": truth}, {"image_id": ids, "PredictionString": guess}
    )


def chests_score(answers, submission):
    """COCO's average precision in the way of its evaluation: by class, by size, by image.

    As there, four sizes of boxes are evaluated, although only the first counts here.
    """
    truth, found = {}, {}
    order = answers["image_id"].tolist()
    for image, text in zip(order, answers["PredictionString"], strict=True):
        for box in _sixes(text):
            # The first box of all has the number 0, and 0 stands for nothing.
            is_known = bool(truth)
            truth.setdefault((image, int(box[0])), []).append((is_known, box[2:]))
    for image, text in zip(submission["image_id"], submission["PredictionString"], strict=True):
        for box in _sixes(text):
            is_known = bool(found)
            found.setdefault((image, int(box[0])), []).append((is_known, box[1], box[2:]))
    scores = []
    for label in sorted({label for _, label in truth}):
        pairs = [(truth.get((name, label), []), found.get((name, label), [])) for name in order]
        overlaps = [_table(true, boxes) for true, boxes in pairs]
        by_size = [
            _coco_precision([_matched(*p, t, *size) for p, t in zip(pairs, overlaps, strict=True)])
            for size in SIZES
        ]
        scores.append(by_size[0])
    return float(np.mean(scores))


def _table(true, found):
    """IoU of the boldest boxes with all true ones."""
    best_first = sorted(found, key=lambda box: -box[1])[:100]
    return [[_overlap(box, other) for _, other in true] for _, _, box in best_first]


def _matched(true, found, table, low, high):
    """Of one image, how many true boxes there are, and (score, hit, ignored) of each found one."""
    is_out = [not low <= (box[2] - box[0]) * (box[3] - box[1]) <= high for _, box in true]
    by_use = sorted(range(len(true)), key=is_out.__getitem__)
    free = [True] * len(true)
    result = []
    best_first = sorted(found, key=lambda box: -box[1])[:100]
    for (is_known, score, box), row in zip(best_first, table, strict=True):
        best, match = 0.4, -1
        for place in by_use:
            if match >= 0 and not is_out[match] and is_out[place]:
                break
            if free[place] and row[place] >= best:
                best, match = row[place], place
        if match >= 0:
            free[match] = not is_known
        hit = match >= 0 and true[match][0]
        own_out = not low <= (box[2] - box[0]) * (box[3] - box[1]) <= high
        result.append((score, hit, is_out[match] if match >= 0 else own_out))
    return len(true) - sum(is_out), result


def _coco_precision(images):
    positives = sum(count for count, _ in images)
    if not positives:
        return 0.0
    scores, hits, ignored = np.array([box for _, boxes in images for box in boxes]).reshape(-1, 3).T
    order = np.argsort(-scores, kind="mergesort")
    hits, counted = hits[order] > 0, ignored[order] == 0
    right, wrong = np.cumsum(hits & counted), np.cumsum(~hits & counted)
    precision = (right / (right + wrong + np.spacing(1))).tolist()
    for place in range(len(precision) - 1, 0, -1):
        precision[place - 1] = max(precision[place - 1], precision[place])
    places = np.searchsorted(right / positives, RECALLS)
    return np.mean([precision[p] if p < len(precision) else 0.0 for p in places])


def _sixes(text):
    numbers = np.array([float(token) for token in text.split(" ")])
    return numbers.reshape(-1, 6)


def _overlap(a, b):
    """IoU of boxes given as x, y, width and height."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(width, 0.0) * max(height, 0.0)
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)


def lesions(rng, rows):
    ids, truth, guess = [], [], []
    for n, name in enumerate(hexes(rng, rows, 12)):
        if n % 2:
            ids.append(f"{name}_study")
            truth.append(f"{STUDIES[n // 2 % 4]} 1 0 0 1 1")
            chances = rng.dirichlet(np.ones(4)).round(4).tolist()
            guess.append(text_of([s, p, 0, 0, 1, 1] for s, p in zip(STUDIES, chances, strict=True)))
            continue
        ids.append(f"{name}_image")
        true = [["opacity", 1, *corners(rng, 2500)] for _ in range(rng.integers(0, 4))]
        found = [["opacity", round(float(rng.random()), 4), *moved(rng, b[2:], 60)] for b in true]
        found += [
            ["opacity", round(float(rng.random() / 2), 4), *corners(rng, 2500)]
            for _ in range(rng.integers(0, 4))
        ]
        found.append(["none", round(float(rng.random()), 4), 0, 0, 1, 1])
        truth.append(text_of(true or [["none", 1, 0, 0, 1, 1]]))
        guess.append(text_of(found))
    return Data({"id": ids, "PredictionString": truth}, {"id": ids, "PredictionString": guess})


def lesions_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    truth, found = (
        [_labelled(text) for text in side["PredictionString"]] for side in (answers, submission)
    )
    labels = sorted({label for boxes in truth for label, _, _ in boxes})
    scores = []
    for label in labels:
        hits, chances = [], []
        for true, guess in zip(truth, found, strict=True):
            free = [box for name, _, box in true if name == label]
            own = sorted((g for g in guess if g[0] == label), key=lambda g: -g[1])
            if not free and not own:
                hits.append(0)
                chances.append(0.0)
            for _, chance, (x1, y1, x2, y2) in own:
                best, match = 0.5, None
                for place, (u1, v1, u2, v2) in enumerate(free):
                    other = [u1, v1, u2 - u1, v2 - v1]
                    overlap = _overlap([x1, y1, x2 - x1, y2 - y1], other)
                    if overlap > best:
                        best, match = overlap, place
                if match is not None:
                    del free[match]
                hits.append(int(match is not None))
                chances.append(chance)
            hits += [1] * len(free)
            chances += [0.0] * len(free)
        scores.append(average_precision_score(hits, chances))
    return float(np.mean(scores))


def _labelled(text):
    tokens = text.strip().split()
    return [
        (tokens[n], float(tokens[n + 1]), [float(t) for t in tokens[n + 2 : n + 6]])
        for n in range(0, len(tokens), 6)
    ]


def roads(rng, rows):
    ids = hexes(rng, rows, 64)
    shares = np.array([0.83, 0.04, 0.02, 0.03, 0.02, 0.01, 0.04, 0.005, 0.005])
    truth, guess = [], []
    for _ in range(rows):
        count = int(rng.integers(5, 51))
        labels = rng.choice(len(VEHICLES), count, p=shares)
        boxes = np.column_stack([
            rng.normal(1500, 40, count), rng.normal(1000, 40, count), rng.normal(-20, 1, count),
            rng.uniform(1.6, 2.2, count), rng.uniform(4, 5.5, count), rng.uniform(1.4, 2, count),
            rng.uniform(-np.pi, np.pi, count),
        ])  # fmt: skip
        off = boxes + rng.normal(0, 1, boxes.shape) * [0.3, 0.3, 0.1, 0.05, 0.1, 0.05, 0.1]
        kept = rng.random(count) < 0.8
        truth.append(_vehicles(np.ones(count), boxes, labels))
        guess.append(_vehicles(rng.random(count)[kept].round(4), off[kept], labels[kept]))
    return Data({"Id": ids, "PredictionString": truth}, {"Id": ids, "PredictionString": guess})


def _vehicles(chances, boxes, labels):
    return text_of(
        [chance, *(round(v, 6) for v in box), VEHICLES[label]]
        for chance, box, label in zip(
            chances.tolist(), boxes.tolist(), labels.tolist(), strict=True
        )
    )


def roads_score(answers, submission):
    answers, submission = aligned(answers, submission.fillna(""), "Id")
    total = np.zeros(10)
    for a, b in zip(answers["PredictionString"], submission["PredictionString"], strict=True):
        true, found = _solids(a), _solids(b)
        labels = sorted({label for label, _, _ in true})
        total += np.mean([_precisions(label, true, found) for label in labels], axis=0)
    return float(total.mean() / len(answers))


def _solids(text):
    tokens = text.split(" ") if text else []
    return [
        (tokens[n + 8], float(tokens[n]), [float(t) for t in tokens[n + 1 : n + 8]])
        for n in range(0, len(tokens), 9)
    ]


def _precisions(label, true, found):
    boxes = [box for name, _, box in true if name == label]
    own = sorted((g for g in found if g[0] == label), key=lambda g: -g[1])
    table = [[_solid_overlap(box, other) for other in boxes] for _, _, box in own]
    scores = []
    for step in range(10):
        taken = [False] * len(boxes)
        hits = []
        for row in table:
            best = max(range(len(boxes)), key=row.__getitem__)
            is_hit = row[best] > round(0.5 + 0.05 * step, 2) and not taken[best]
            taken[best] |= is_hit
            hits.append(is_hit)
        counts = np.cumsum(hits)
        recall = np.concatenate([[0], counts / len(boxes), [1]])
        precision = np.concatenate([[0], counts / np.arange(1, len(hits) + 1), [0]])
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        scores.append(((recall[1:] - recall[:-1]) * precision[1:]).sum())
    return scores


def _solid_overlap(a, b):
    height = min(a[2] + a[5] / 2, b[2] + b[5] / 2) - max(a[2] - a[5] / 2, b[2] - b[5] / 2)
    if height <= 0:
        return 0.0
    shared = _common_area(_ground(a), _ground(b)) * height
    whole = a[3] * a[4] * a[5] + b[3] * b[4] * b[5] - shared
    return min(max(shared / whole, 0.0), 1.0)


def _ground(box):
    x, y, _, width, length, _, yaw = box
    cos, sin = math.cos(yaw), math.sin(yaw)
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    return [
        (
            x + cos * s * length / 2 - sin * t * width / 2,
            y + sin * s * length / 2 + cos * t * width / 2,
        )
        for s, t in signs
    ]


def _common_area(polygon, window):
    """The area of two convex polygons' intersection, one cut by the sides of the other."""
    for (ax, ay), (bx, by) in zip(window, window[1:] + window[:1], strict=True):
        kept = []
        for (px, py), (qx, qy) in zip(polygon[-1:] + polygon[:-1], polygon, strict=True):
            p = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
            q = (bx - ax) * (qy - ay) - (by - ay) * (qx - ax)
            if (p < 0) != (q < 0):
                kept.append((px + p / (p - q) * (qx - px), py + p / (p - q) * (qy - py)))
            if q >= 0:
                kept.append((qx, qy))
        polygon = kept
    if len(polygon) < 3:
        return 0.0
    ox, oy = polygon[0]
    moved_there = [(x - ox, y - oy) for x, y in polygon]
    nexts = moved_there[1:] + moved_there[:1]
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(moved_there, nexts, strict=True))) / 2


def pages(rng, rows):
    ids = [f"100241706_{n:05d}_2" for n in range(rows)]
    truth, guess = [], []
    for _ in range(rows):
        true, found = [], []
        for n in range(int(rng.integers(50, 330))):
            code = f"U+{int(rng.integers(0x3042, 0x3094)):04X}"
            x, y = 100 + n // 20 * 110, 100 + n % 20 * 120
            true.append([code, x, y, 80, 100])
            inside = rng.random() < 0.9
            found.append([code, x + (40 if inside else 105), y + 50])
        truth.append(text_of(true))
        guess.append(text_of(found))
    return Data({"image_id": ids, "labels": truth}, {"image_id": ids, "labels": guess})


def pages_score(answers, submission):
    answers, submission = aligned(answers, submission.fillna(""), "image_id")
    hits = boxes = points = 0
    for true, guess in zip(answers["labels"], submission["labels"], strict=True):
        tokens, given = true.split(" "), guess.split(" ") if guess else []
        places = np.array(
            [[float(x), float(y)] for x, y in zip(given[1::3], given[2::3], strict=True)]
        )
        names = np.array(given[0::3])
        used = np.zeros(len(names), dtype=bool)
        boxes += len(tokens) // 5
        points += len(names)
        for n in range(0, len(tokens), 5):
            x, y, width, height = (float(token) for token in tokens[n + 1 : n + 5])
            inside = (places[:, 0] > x) & (places[:, 0] < x + width)
            inside &= (places[:, 1] > y) & (places[:, 1] < y + height)
            free = np.flatnonzero(inside & (names == tokens[n]) & ~used)
            if len(free):
                used[free[0]] = True
                hits += 1
    precision, recall = hits / points, hits / boxes
    return 2 * precision * recall / (precision + recall)


FAMILIES = (
    Family("vinbigdata-chest-xray-abnormalities-detection", 1_500, "exact", chests, chests_score),
    Family("siim-covid19-detection", 1_239, "estimate", lesions, lesions_score),
    Family("3d-object-detection-for-autonomous-vehicles", 200, "smaller", roads, roads_score),
    Family("kuzushiji-recognition", 361, "estimate", pages, pages_score),
)
