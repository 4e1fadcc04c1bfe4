"""0.4 Dice + 0.6 (1 - a scaled 3-D Hausdorff distance): slices are put together to volumes by part
of their id and by image sizes from the answers, which only this competition does. As in MLE-bench:
rows where both masks are empty are left out of Dice, the classes of a slice are merged for the
distance, and a volume marked more than ten times too large counts as distance 1.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.ndimage import binary_erosion, distance_transform_edt
from sklearn.neighbors import KDTree

from app.metrics.segmentation import dice_score

DICE_WEIGHT, DISTANCE_WEIGHT = 0.4, 0.6
TOO_LARGE = 10
MANY = 200_000  # voxels to look up one by one; for more the whole volume is measured at once


@dataclass(frozen=True)
class Volume:
    """The rows of one volume, the slice that each belongs to, and slices, height and width."""

    rows: np.ndarray
    slices: np.ndarray
    shape: tuple[int, int, int]


def prepare(answers: pd.DataFrame) -> tuple:
    """The true masks, and the volumes."""
    sizes = answers[["image_height", "image_width"]].astype(float).astype(int).to_numpy()
    names = answers["id"].str.split("_slice_", n=1).str[0]
    volumes = []
    for rows in names.groupby(names).indices.values():
        slices, _ = pd.factorize(answers["id"].iloc[rows], sort=True)
        volumes.append(Volume(rows, slices, (int(slices.max()) + 1, *sizes[rows[0]].tolist())))
    return answers.attrs["file"].arrays["predicted"], volumes


def score(prepared: tuple, submission: pd.DataFrame) -> float:
    truth, volumes = prepared
    marked = submission.attrs["file"].arrays["predicted"]
    some = np.flatnonzero((np.diff(truth.offsets) > 0) | (np.diff(marked.offsets) > 0))
    if not len(some):
        raise ValueError("nothing is marked anywhere: the answers are all empty")
    dice = dice_score(truth.take(some), marked.take(some))
    distances = []
    for volume in volumes:
        a, b = (_voxels(side.take(volume.rows), volume) for side in (truth, marked))
        if a.any() or b.any():
            distances.append(_distance(a, b))
    return float(DICE_WEIGHT * dice + DISTANCE_WEIGHT * (1 - np.mean(distances)))


def _voxels(masks: object, volume: Volume) -> np.ndarray:
    """Whether each voxel is marked, by slice, column and row: masks count down the columns."""
    slices, height, width = volume.shape
    offset = np.repeat(volume.slices * (height * width), np.diff(masks.offsets))
    # Masks of several classes may overlap, so runs are counted in and out.
    depth = np.zeros(slices * height * width + 1, dtype=np.int8)
    np.add.at(depth, masks.starts + offset, 1)
    np.subtract.at(depth, masks.starts + masks.lengths + offset, 1)
    np.cumsum(depth, dtype=np.int8, out=depth)
    return (depth[:-1] > 0).reshape(slices, width, height)


def _distance(truth: np.ndarray, marked: np.ndarray) -> float:
    if np.array_equal(truth, marked):
        return 0.0
    size, marked_size = np.count_nonzero(truth), np.count_nonzero(marked)
    if not size or not marked_size or marked_size > TOO_LARGE * size:
        return 1.0
    scale = 1.0 / np.array(truth.shape)
    # Nothing lies outside of the box that holds both; a margin keeps the erosion honest.
    both = truth | marked
    spans = (np.flatnonzero(both.any(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1)))
    inside = tuple(slice(span[0], span[-1] + 1) for span in spans)
    a, b = np.pad(truth[inside], 1), np.pad(marked[inside], 1)
    return max(_farthest(a, b, scale), _farthest(b, a, scale)) / np.sqrt(3.0)


def _farthest(here: np.ndarray, there: np.ndarray, scale: np.ndarray) -> float:
    """How far the farthest voxel of one volume is from the other volume."""
    lonely = here & ~there
    if np.count_nonzero(lonely) > MANY:
        return float(distance_transform_edt(~there, sampling=scale)[lonely].max())
    if not lonely.any():
        return 0.0
    # The nearest voxel to one outside always lies at the surface: from an inner one, a step nearer.
    surface = there & ~binary_erosion(there)
    # SciPy's tree takes minutes where a plane is marked far off: its nodes are larger than what
    # they hold. This one's are not.
    tree = KDTree(np.argwhere(surface) * scale)
    return float(tree.query(np.argwhere(lonely) * scale)[0].max())
