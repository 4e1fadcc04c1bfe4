"""Number the distinct texts or numbers of a submitted file, in time proportional to its rows.

The hash tables of pandas and Arrow hash in one known way. A file whose texts all have the same
hash would take them a time that grows with the square of its rows. So values are hashed with
secret random numbers first, new ones for each call.
"""

from __future__ import annotations

import secrets

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.grading.ids.fixed_width_index import KeyArray, words_of
from app.metrics.arrays import IntArray

_HEAD = 1000  # rows whose texts may be hashed in any way: they are few
_FEW = 64  # distinct texts of them; up to here, the other rows are looked up among them first
_WORDS = 8  # of eight bytes; longer texts are hashed by Python, one by one
_AT_ONCE = 65_536  # texts that are hashed at once, which bounds the memory
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFF_FFFF)


def distinct_texts(
    texts: pa.Array | pa.ChunkedArray,
) -> tuple[IntArray, pa.StringArray]:
    """A code for each text, in the order of appearance, and the text of each code.

    Raises:
        ValueError: a text is null.

    >>> codes, names = distinct_texts(pa.array(["b", "a", "b"]))
    >>> codes.tolist(), names.to_pylist()
    ([0, 1, 0], ['b', 'a'])
    """
    if texts.null_count:
        raise ValueError("a text is null")
    head = pc.unique(texts.slice(0, _HEAD))
    if len(texts) <= _HEAD or len(head) <= _FEW:
        found = pc.index_in(texts, value_set=head)
        if not found.null_count:
            return found.to_numpy().astype(np.int64), head
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    while True:
        hashes = _hashes(chunks)
        codes, first = _factorized(hashes)
        names = texts.take(pa.array(first))
        names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
        if _are_named(chunks, codes, names):  # else two texts got one number
            return codes, names


def distinct_keys(keys: KeyArray) -> tuple[IntArray, IntArray]:
    """A code for each key, in the order of appearance, and where each code appears first.

    >>> distinct_keys(np.array([7, 3, 7], dtype=np.uint64))
    (array([0, 1, 0]), array([0, 1]))
    """
    while True:
        codes, first = _factorized(_Hash(1).of([keys]))
        if np.array_equal(keys[first][codes], keys):  # else two keys got one number
            return codes, first


class _Hash:
    """A function from words to numbers that is drawn at random from a universal family.

    Each half of a number is a multilinear hash of the halves of the words (Lemire and Kaser,
    Strongly Universal String Hashing is Fast, 2014, section 3).
    """

    def __init__(self, words: int) -> None:
        bits = secrets.token_bytes(8 * (4 * words + 2))
        self._random = np.frombuffer(bits, dtype=np.uint64).reshape(2, -1)

    def of(self, words: list[KeyArray]) -> KeyArray:
        """A number for each row of the words."""
        top, bottom = (np.full(len(words[0]), one[-1]) for one in self._random)
        for index, word in enumerate(words):
            low, high = word & _LOW, word >> _HALF
            place = 2 * index
            top += low * self._random[0, place] + high * self._random[0, place + 1]
            bottom += low * self._random[1, place] + high * self._random[1, place + 1]
        top &= ~_LOW
        bottom >>= _HALF
        top |= bottom
        return top


def _hashes(chunks: list[pa.StringArray]) -> KeyArray:
    """A number for each text, by one function for all."""
    parts = [
        chunk.slice(start, _AT_ONCE) for chunk in chunks for start in range(0, len(chunk), _AT_ONCE)
    ]
    words = -(-max(pc.max(pc.binary_length(part)).as_py() for part in parts) // 8)
    if words > _WORDS:
        # A prefix that nobody knows: without it, Python's hashes are the same in all graders.
        prefix = secrets.token_hex(8)
        return np.concatenate([_hashes_by_python(part, prefix) for part in parts])
    number = _Hash(words + 1)
    return np.concatenate([number.of([*words_of(part, words), _sizes(part)]) for part in parts])


def _sizes(texts: pa.StringArray) -> KeyArray:
    return np.asarray(pc.binary_length(texts).to_numpy(), dtype=np.uint64)


def _hashes_by_python(texts: pa.StringArray, prefix: str) -> KeyArray:
    objects = texts.to_numpy(zero_copy_only=False).tolist()
    found = np.fromiter(map(hash, map(prefix.__add__, objects)), np.int64, len(objects))
    return found.view(np.uint64)


def _factorized(numbers: KeyArray) -> tuple[IntArray, IntArray]:
    """Codes in the order of appearance, and where each code appears first."""
    found, distinct = pd.factorize(numbers)
    codes: IntArray = found.astype(np.int64, copy=False)
    first = np.empty(len(distinct), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int64)
    return codes, first


def _are_named(chunks: list[pa.StringArray], codes: IntArray, names: pa.StringArray) -> bool:
    """Whether each text is the one of its code."""
    start = 0
    for chunk in chunks:
        end = start + len(chunk)
        if not names.take(pa.array(codes[start:end])).equals(chunk):
            return False
        start = end
    return True
