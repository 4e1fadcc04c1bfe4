"""Errors of texts."""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from app.metrics.arrays import TextArray
from app.metrics.registry import metric


@metric(kinds={"text"})
def mean_levenshtein_error(y_true: TextArray, y_pred: TextArray) -> float:
    """The mean edit distance: insertions, deletions and replacements of characters (code points).

    >>> import numpy as np
    >>> mean_levenshtein_error(np.array(["kitten", "a"]), np.array(["sitting", "a"]))
    1.5
    """
    # One worker: how many processes grade at once is decided elsewhere.
    distances = cpdist(y_true, y_pred, scorer=Levenshtein.distance, workers=1)
    return float(distances.sum(dtype="int64")) / len(distances)
