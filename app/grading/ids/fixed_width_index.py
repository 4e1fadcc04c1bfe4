"""Texts of at most eight bytes as numbers, because numbers are found much faster than texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.metrics.arrays import IntArray

_WIDTH = 8
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(_WIDTH + 1)], dtype=np.uint64)

KeyArray = NDArray[np.uint64]


def short_keys(texts: pa.StringArray) -> KeyArray | None:
    """A number for each text, distinct for distinct texts; None where a text is too long.

    Files with NUL bytes are rejected, so shorter texts are padded with NUL bytes.

    >>> keys = short_keys(pa.array(["ab", "b", "ab"]))
    >>> bool(keys[0] == keys[2] != keys[1]), short_keys(pa.array(["nine bytes"])) is None
    (True, True)
    """
    if texts.null_count or (pc.max(pc.binary_length(texts)).as_py() or 0) > _WIDTH:
        return None
    return words_of(texts, 1)[0]


def words_of(texts: pa.StringArray, words: int) -> list[KeyArray]:
    """The first bytes of each text as so many numbers of eight bytes, padded with NUL bytes.

    >>> [word.tolist() for word in words_of(pa.array(["b", "12345678c"]), 2)]
    [[98, 4050765991979987505], [0, 99]]
    """
    _, ends, data = texts.buffers()
    if ends is None or data is None:
        return [np.zeros(len(texts), dtype=np.uint64) for _ in range(words)]
    offsets = np.frombuffer(ends, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    sizes = np.diff(offsets)
    first = int(offsets[0])
    padded = np.zeros(int(offsets[-1]) - first + words * _WIDTH, dtype=np.uint8)
    padded[: -words * _WIDTH] = np.frombuffer(data, dtype=np.uint8)[first : int(offsets[-1])]
    windows = np.ndarray((len(padded) - _WIDTH + 1,), dtype="<u8", buffer=padded, strides=(1,))
    found = []
    for start in range(0, words * _WIDTH, _WIDTH):
        keys: KeyArray = windows[offsets[:-1] + (start - first)]
        keys &= _MASKS[np.clip(sizes - start, 0, _WIDTH)]
        found.append(keys)
    return found


class KnownTexts:
    """Short texts with an index, made once, in which the texts of many files are found."""

    def __init__(self, texts: pa.StringArray, keys: KeyArray) -> None:
        self.texts = texts
        self._index = pd.Index(keys)

    @classmethod
    def of(cls, texts: pa.StringArray) -> KnownTexts | None:
        """An index of distinct texts; None where one is too long."""
        keys = short_keys(texts)
        return None if keys is None else cls(texts, keys)

    @property
    def nbytes(self) -> int:
        """Approximate bytes of the index once it is used: keys and a hash table."""
        return 40 * len(self.texts)

    def indexes(self, texts: pa.StringArray) -> IntArray | None:
        """The index of each text; None where one is not known.

        >>> known = KnownTexts.of(pa.array(["a", "b"]))
        >>> known.indexes(pa.array(["b", "b"])), known.indexes(pa.array(["c"])) is None
        (array([1, 1]), True)
        """
        keys = short_keys(texts)
        if keys is None:
            return None
        found = _indexes(self._index, keys)
        return None if found.min(initial=0) < 0 else found


def indexes_in(keys: KeyArray, known: KeyArray) -> IntArray:
    """The index of each key in `known`, whose keys are distinct; -1 where it is not there."""
    return _indexes(pd.Index(known), keys)


def _indexes(index: pd.Index, keys: KeyArray) -> IntArray:
    found: IntArray = index.get_indexer(pd.Index(keys)).astype(np.int64, copy=False)
    return found
