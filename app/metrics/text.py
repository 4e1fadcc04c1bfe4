"""Errors of texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray
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
    distances = edit_distances(y_true, y_pred)
    return float(distances.sum(dtype="int64")) / len(distances)


def edit_distances(y_true: TextArray, y_pred: TextArray) -> NDArray[Any]:
    """The edit distance of each row's texts."""
    # One worker: how many processes grade at once is decided elsewhere.
    return cpdist(y_true, y_pred, scorer=Levenshtein.distance, workers=1)


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
    return sum(edit_distances_of_lists(y_true, y_pred)) / len(y_true.codes)


def edit_distances_of_lists(y_true: Lists, y_pred: Lists) -> Iterator[int]:
    """The edit distance of each row's lists."""
    return map(Levenshtein.distance, _by_row(y_true), _by_row(y_pred))


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
    for share in shares_of_words(true, y_pred):
        total += share
    return total / len(y_pred)


def shares_of_words(y_true: TextArray | _Words, y_pred: TextArray) -> Iterator[float]:
    """Shared / all distinct words of each row."""
    true = y_true if isinstance(y_true, _Words) else _words(y_true)
    for a, b in zip(true.rows, _words(y_pred).rows, strict=True):
        shared = len(a & b)
        yield shared / (len(a) + len(b) - shared) if shared else 0.0


def _by_row(lists: Lists) -> list[list[int]]:
    codes = lists.codes.tolist()
    return [codes[a:b] for a, b in pairwise(lists.offsets.tolist())]
