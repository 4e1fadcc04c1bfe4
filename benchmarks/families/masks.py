"""Families of run-length masks."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import directed_hausdorff
from sklearn.metrics import fbeta_score

from benchmarks.families.family import Data, Family, aligned, hexes

ORGANS = ("large_bowel", "small_bowel", "stomach")
SIDE, SLICES = 266, 144  # of the abdomen's volumes
SECTION = (9_500, 6_300)  # of the scroll, in pixels
THRESHOLDS = np.arange(0.5, 1.0, 0.05)


def encode(mask):
    """Runs counted from 1, down the columns."""
    flat = np.concatenate([[0], mask.T.ravel(), [0]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(flat))
    starts, lengths = edges[0::2] + 1, edges[1::2] - edges[0::2]
    return " ".join(map(str, np.column_stack([starts, lengths]).ravel().tolist()))


def decode(text, height, width):
    """A picture of booleans from runs that count down the columns."""
    numbers = [int(token) for token in str(text).split()]
    flat = np.zeros(height * width, dtype=bool)
    for start, length in zip(numbers[0::2], numbers[1::2], strict=True):
        flat[start - 1 : start - 1 + length] = True
    return flat.reshape(width, height).T


def disc(height, width, y, x, radius):
    rows, columns = np.ogrid[:height, :width]
    return (rows - y) ** 2 + (columns - x) ** 2 < radius**2


def discs(rng, rows, height, width, share):
    """Pairs of masks: a disc and a shifted one, both empty in some of the rows."""
    for empty in rng.random(rows) > share:
        y, x = rng.random() * height, rng.random() * width
        radius = (0.1 + 0.3 * rng.random()) * min(height, width)
        if empty:
            yield "", ""
        else:
            shift = rng.normal(0, 0.1 * radius)
            yield (
                encode(disc(height, width, y, x, radius)),
                encode(disc(height, width, y + shift, x, radius)),
            )


def salt(rng, rows):
    ids = hexes(rng, rows, 10)
    truth, guess = zip(*discs(rng, rows, 101, 101, 0.6), strict=True)
    # There an empty mask counts as a full one: the few that differ are left out here.
    guess = [b or a for a, b in zip(truth, guess, strict=True)]
    return Data({"id": ids, "rle_mask": truth}, {"id": ids, "rle_mask": guess})


def salt_score(answers, submission):
    answers, submission = aligned(answers.fillna(""), submission.fillna(""), "id")
    scores = []
    for a, b in zip(answers["rle_mask"], submission["rle_mask"], strict=True):
        true, guess = decode(a, 101, 101), decode(b, 101, 101)
        if not true.any() or not guess.any():
            scores.append(float(true.any() == guess.any()))
            continue
        counts, _, _ = np.histogram2d(true.ravel(), guess.ravel(), bins=(2, 2))
        union = counts.sum() - counts[0, 0]
        scores.append(float(np.mean(counts[1, 1] / union > THRESHOLDS)))
    return float(np.mean(scores))


def contrails(rng, rows):
    ids = [str(10**18 + n) for n in range(rows)]
    truth, guess = zip(*discs(rng, rows, 256, 256, 0.3), strict=True)
    sizes = {"height": np.full(rows, 256), "width": np.full(rows, 256)}
    return Data(
        {"record_id": ids, "encoded_pixels": [t or "-" for t in truth], **sizes},
        {"record_id": ids, "encoded_pixels": [t or "-" for t in guess]},
    )


def contrails_score(answers, submission):
    answers, submission = aligned(answers, submission, "record_id")
    true, guess = (
        np.stack([decode(t.replace("-", ""), 256, 256) for t in side["encoded_pixels"]])
        for side in (answers, submission)
    )
    return 2 * (true & guess).sum() / (true.sum() + guess.sum())


def kidneys(rng, rows):
    height, width = 18_000, 14_000
    ids = hexes(rng, rows, 9)
    truth, guess = [], []
    for _ in range(rows):
        # 250 glomeruli of about 200 pixels, as runs: no mask of this size is drawn here.
        a, b = (_blobs(rng.integers(1, width // 300, 250), height, s) for s in (0, 12))
        truth.append(a)
        guess.append(b)
    sizes = {"width_pixels": np.full(rows, width), "height_pixels": np.full(rows, height)}
    return Data({"id": ids, "encoding": truth, **sizes}, {"id": ids, "predicted": guess})


def _blobs(columns, height, shift):
    """Squares of 200 pixels, in columns of squares, with no two upon another."""
    starts = []
    for place, count in zip(*np.unique(columns, return_counts=True), strict=True):
        tops = np.arange(count) * (height // 50) + shift
        for column in range(place * 300, place * 300 + 200):
            starts += (column * height + tops + 1).tolist()
    return " ".join(f"{start} 200" for start in starts)


def kidneys_score(answers, submission):
    answers, submission = aligned(answers, submission.fillna(""), "id")
    scores = []
    for row in range(len(answers)):
        height, width = (int(answers[n][row]) for n in ("height_pixels", "width_pixels"))
        true = decode(answers["encoding"][row], height, width)
        guess = decode(submission["predicted"][row], height, width)
        total = true.sum() + guess.sum()
        scores.append(2 * (true & guess).sum() / total if total else 1.0)
    return float(np.mean(scores))


def ink(rng, rows):
    height, width = SECTION
    rows_there, columns = np.ogrid[:height, :width]
    true = (np.sin(rows_there / 40) * np.cos(columns / 30)) > 0.5
    guess = (np.sin(rows_there / 40 + 0.2) * np.cos(columns / 30)) > 0.4
    # Runs count along the rows here.
    sizes = {"width": [width], "height": [height]}
    return Data(
        {"Id": ["a"], "Predicted": [encode(true.T)], **sizes},
        {"Id": ["a"], "Predicted": [encode(guess.T)]},
    )


def ink_score(answers, submission):
    height, width = int(answers["height"][0]), int(answers["width"][0])
    true, guess = (decode(side["Predicted"][0], width, height).T for side in (answers, submission))
    return fbeta_score(true.ravel(), guess.ravel(), beta=0.5)


def abdomens(rng, rows):
    ids, kinds, truth, guess = [], [], [], []
    for scan in range(rows // (3 * SLICES)):
        centres = rng.random((3, 2)) * 120 + 70
        for level in range(SLICES):
            for organ, (y, x) in zip(ORGANS, centres, strict=True):
                ids.append(f"case{100 + scan}_day{scan % 20}_slice_{level + 1:04d}")
                kinds.append(organ)
                radius = 15 * np.sin(np.pi * (level - 30) / 80)
                there = 30 <= level < 110
                truth.append(encode(disc(SIDE, SIDE, y, x, radius)) if there else "")
                guess.append(encode(disc(SIDE, SIDE, y + 2, x + 1, radius)) if there else "")
    sizes = {n: np.full(len(ids), float(SIDE)) for n in ("image_width", "image_height")}
    key = {"id": ids, "class": kinds}
    return Data({**key, "predicted": truth, **sizes}, {**key, "predicted": guess})


def abdomens_score(answers, submission):
    answers, submission = answers.fillna(""), submission.fillna("")
    dices, volumes = [], {}
    for row in range(len(answers)):
        pair = [decode(side["predicted"][row], SIDE, SIDE) for side in (answers, submission)]
        total = pair[0].sum() + pair[1].sum()
        if total:
            dices.append(2 * (pair[0] & pair[1]).sum() / total)
        name = answers["id"][row]
        slices = volumes.setdefault(name.split("_slice_")[0], {})
        for place, mask in enumerate(pair):
            merged = slices.setdefault(name, [np.zeros((SIDE, SIDE), dtype=bool)] * 2)
            slices[name] = [m | mask if place == n else m for n, m in enumerate(merged)]
    distances = []
    for slices in volumes.values():
        a, b = (np.stack([slices[name][n] for name in sorted(slices)]) for n in (0, 1))
        if not a.any() and not b.any():
            continue
        if (a == b).all():
            distances.append(0.0)
        elif not a.any() or not b.any() or b.sum() > 10 * a.sum():
            distances.append(1.0)
        else:
            true, guess = (np.argwhere(volume) / np.array(a.shape) for volume in (a, b))
            there = directed_hausdorff(true, guess)[0]
            distances.append(max(there, directed_hausdorff(guess, true)[0]) / np.sqrt(3))
    return 0.4 * float(np.mean(dices)) + 0.6 * (1 - float(np.mean(distances)))


FAMILIES = (
    Family("tgs-salt-identification-challenge", 1_000, "exact", salt, salt_score),
    Family(
        "google-research-identify-contrails-reduce-global-warming", 1_856, "exact",
        contrails, contrails_score,
    ),
    Family("hubmap-kidney-segmentation", 3, "exact", kidneys, kidneys_score),
    Family("vesuvius-challenge-ink-detection", 1, "exact", ink, ink_score),
    Family(
        "uw-madison-gi-tract-image-segmentation", 3 * SLICES, "smaller",
        abdomens, abdomens_score,
    ),
)  # fmt: skip
