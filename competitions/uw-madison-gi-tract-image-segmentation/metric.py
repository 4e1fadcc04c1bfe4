"""0.4 Dice + 0.6 (1 - a scaled 3-D Hausdorff distance): slices are put together to volumes by part
of their id and by image sizes from the answers, which only this competition does. As in MLE-bench:
rows where both masks are empty are left out of Dice, the classes of a slice are merged for the
distance, and a volume marked more than ten times too large counts as distance 1.
"""

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

DICE_WEIGHT, DISTANCE_WEIGHT = 0.4, 0.6
TOO_LARGE = 10


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    sizes = answers[["image_height", "image_width"]].astype(float).astype(int).to_numpy()
    truth, marked = (
        [_pixels(text) for text in frame["predicted"]] for frame in (answers, submission)
    )
    dices = []
    for a, b in zip(truth, marked, strict=True):
        if len(a) or len(b):
            dices.append(2 * len(np.intersect1d(a, b, assume_unique=True)) / (len(a) + len(b)))
    volumes = answers["id"].str.split("_slice_", n=1).str[0]
    distances = []
    for rows in volumes.groupby(volumes).indices.values():
        slices, _ = pd.factorize(answers["id"].iloc[rows], sort=True)
        height, width = sizes[rows[0]]
        a, b = (_voxels(side, rows, slices, height) for side in (truth, marked))
        if len(a) or len(b):
            distances.append(_distance(a, b, (slices.max() + 1, height, width)))
    if not dices:
        raise ValueError("nothing is marked anywhere: the answers are all empty")
    return float(DICE_WEIGHT * np.mean(dices) + DISTANCE_WEIGHT * (1 - np.mean(distances)))


def _pixels(text: str) -> np.ndarray:
    """The marked pixels, counted from 0 down the columns."""
    runs = np.array(text.split(), dtype=np.int64)
    starts, lengths = runs[0::2] - 1, runs[1::2]
    shift = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return np.arange(lengths.sum()) + shift


def _voxels(masks: list, rows: np.ndarray, slices: np.ndarray, height: int) -> np.ndarray:
    """Slice, row and column of every marked voxel, each once."""
    parts = [
        np.column_stack(
            [np.full(len(masks[row]), place), masks[row] % height, masks[row] // height]
        )
        for row, place in zip(rows, slices, strict=True)
    ]
    return np.unique(np.concatenate(parts), axis=0)


def _distance(truth: np.ndarray, marked: np.ndarray, shape: tuple) -> float:
    if np.array_equal(truth, marked):
        return 0.0
    if not len(truth) or not len(marked) or len(marked) > TOO_LARGE * len(truth):
        return 1.0
    a, b = truth / shape, marked / shape
    there, back = cKDTree(b).query(a)[0].max(), cKDTree(a).query(b)[0].max()
    return max(there, back) / np.sqrt(3.0)
