"""Errors of texts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from app.metrics.arrays import Lists, TextArray
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


@metric(kinds={"list"})
def normalized_levenshtein_error(y_true: Lists, y_pred: Lists) -> float:
    """The edit distances of all rows' lists, divided by the items of all answers; may exceed 1.

    Raises:
        ValueError: the answers have no item.

    >>> import numpy as np
    >>> one = Lists(np.array([1, 2, 3]), np.array([0, 3]))
    >>> round(normalized_levenshtein_error(one, Lists(np.array([1, 3]), np.array([0, 2]))), 6)
    0.333333
    """
    if not len(y_true.codes):
        raise ValueError("the error is undefined: the answers have no item")
    distances = map(Levenshtein.distance, _by_row(y_true), _by_row(y_pred))
    return sum(distances) / len(y_true.codes)


@dataclass(frozen=True, slots=True)
class _Words:
    """The distinct words of each row."""

    rows: list[set[str]]


def _words(texts: TextArray) -> _Words:
    return _Words([set(text.lower().split()) for text in texts])


@metric(kinds={"text"}, prepare=_words)
def mean_word_jaccard_score(y_true: TextArray | _Words, y_pred: TextArray) -> float:
    """The mean over rows of shared / all distinct words, in lower case and parted by white space.

    A row where both texts have no word counts 0.

    >>> import numpy as np
    >>> mean_word_jaccard_score(np.array(["Big cats", "a"]), np.array(["big dogs", "a a"]))
    0.6666666666666666
    """
    true = y_true if isinstance(y_true, _Words) else _words(y_true)
    total = 0.0
    for a, b in zip(true.rows, _words(y_pred).rows, strict=True):
        shared = len(a & b)
        if shared:
            total += shared / (len(a) + len(b) - shared)
    return total / len(y_pred)


def _by_row(lists: Lists) -> list[list[int]]:
    codes = lists.codes.tolist()
    return [codes[a:b] for a, b in pairwise(lists.offsets.tolist())]
