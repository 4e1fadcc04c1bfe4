"""Make a sketch of a file's predictions: small, and alike for files that predict alike.

Rows are in the order of the public ids, and numbers are decoded. So neither the order of the rows
nor the way in which a number is written changes a sketch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import Values
from app.grading.columns.labels import Encoded
from app.grading.graded import Sketch
from app.metrics.arrays import Boxes, FloatArray, IntArray, Lists, Masks, row_of_each

BLOCKS = 64  # digests in a sketch
CELLS = 64  # numbers in a sketch
CACHED_ROWS = 2048  # in a block: from here on, blocks are summed one by one
KEPT = 8  # numbers of rows whose places are kept, at most 1 MB each
MOST_TEXTS = 8192  # digested in a column: hashing them takes longer than all else

Words = npt.NDArray[np.uint64]

_LARGEST = float(np.finfo(np.float32).max)
# Odd constants of the mixing steps of MurmurHash3 and SplitMix64: they spread bits, no more.
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
_STEP = 0.6180339887498949  # the golden ratio's fraction spreads places evenly


def sketch_of(checked: CheckedFile) -> Sketch:
    """The sketch of a valid file."""
    decoded = checked.decoded
    rows = checked.ids.rows
    starts, places = (_kept_rows if rows < BLOCKS * CACHED_ROWS else _rows)(rows)
    total = np.zeros(BLOCKS, dtype=np.uint64)
    for index in range(decoded.numbers.shape[1]):
        words = partial(_bits, decoded.numbers[:, index])
        total += _row_sums(words, places, index, starts)
    for index, (_, values) in enumerate(sorted(decoded.others.items())):
        column = decoded.numbers.shape[1] + index
        if rows > MOST_TEXTS and _texts(values) > MOST_TEXTS:
            some = np.arange(MOST_TEXTS) * rows // MOST_TEXTS
            few = values[some] if isinstance(values, np.ndarray) else values.take(some)
            cuts = np.arange(BLOCKS + 1) * MOST_TEXTS // BLOCKS
            total += _of_column(few, places[some], column, cuts)
        else:
            total += _of_column(values, places, column, starts)
    digests = (total ^ (total >> _SHIFT)).astype("<u4")
    return Sketch(rows, digests.tobytes(), _cells(decoded.numbers))


def _rows(count: int) -> tuple[IntArray, Words]:
    """Where the blocks of so many rows begin and end, and a word for the place of each row."""
    starts = np.arange(BLOCKS + 1) * count // BLOCKS
    places = np.arange(count, dtype=np.uint64) * _SECOND
    for shared in (starts, places):
        shared.setflags(write=False)
    return starts, places


_kept_rows = lru_cache(KEPT)(_rows)


@lru_cache(KEPT)
def _places_of_cells(rows: int, size: int) -> tuple[IntArray, IntArray]:
    """The row and the column of each cell, among `size` numbers in so many rows."""
    places = (np.arange(1, CELLS + 1) * _STEP % 1.0 * size).astype(np.int64)
    return places % rows, places // rows


def _cells(numbers: FloatArray) -> bytes:
    """Numbers of the file at fixed places, as float32."""
    if not numbers.size:
        return b""
    values = numbers[_places_of_cells(len(numbers), numbers.size)] + 0.0
    return bytes(np.clip(values, -_LARGEST, _LARGEST).astype("<f4"))


def _of_column(values: Values, places: Words, column: int, starts: IntArray) -> Words:
    """The sums of a column that is not of numbers."""
    match values:
        case Encoded(codes=Lists() as lists, names=names):
            words = _hashes_of(lists.codes, names)
            return _of_flat(words, lists.offsets, places, column, starts)
        case Encoded(codes=codes, names=names) if isinstance(codes, np.ndarray):
            if len(names) > MOST_TEXTS:
                words = _hashes_of(codes, names)
                return _row_sums(lambda part: words[part], places, column, starts)
            hashes = _hashes(names)
            return _row_sums(lambda part: hashes[codes[part]], places, column, starts)
        case Masks():
            words = values.starts.view(np.uint64) * _SECOND + values.lengths.view(np.uint64)
            return _of_flat(words, values.offsets, places, column, starts)
        case Boxes():
            total = np.zeros(BLOCKS, dtype=np.uint64)
            for field in range(values.values.shape[1]):
                words = np.ascontiguousarray(values.values[:, field] + 0.0).view(np.uint64)
                at = column * (1 + len(values.fields)) + field
                total += _of_flat(words, values.offsets, places, at, starts)
            return total
        case np.ndarray():
            return _block_sums(_mixed(_hashes(values), places, column), starts)
    raise TypeError(f"no sketch of {type(values).__name__}")


def _row_sums(
    words: Callable[[slice], Words], places: Words, column: int, starts: IntArray
) -> Words:
    """The sums of a column with one word in each row, of which `words` gives some.

    Long columns are summed block by block, which caches hold.
    """
    if len(places) < BLOCKS * CACHED_ROWS:
        every = slice(0, len(places))
        return _block_sums(_mixed(words(every), places, column), starts)
    sums = np.empty(BLOCKS, dtype=np.uint64)
    for block in range(BLOCKS):
        part = slice(int(starts[block]), int(starts[block + 1]))
        sums[block] = np.add.reduce(_mixed(words(part), places[part], column))
    return sums


def _bits(numbers: FloatArray, part: slice) -> Words:
    """The bits of some numbers; -0.0 has those of 0.0."""
    found: Words = (numbers[part] + 0.0).view(np.uint64)
    return found


def _of_flat(
    words: Words, offsets: IntArray, places: Words, column: int, starts: IntArray
) -> Words:
    """The sums of a column whose rows hold several things one after another."""
    rows = row_of_each(offsets)
    within = np.arange(len(words), dtype=np.int64) - offsets[rows]
    where = places[rows] + within.astype(np.uint64) * _FIRST
    return _block_sums(_mixed(words, where, column), offsets[starts])


def _mixed(words: Words, places: Words, column: int) -> Words:
    """Words spread over all bits, other ones at every place."""
    found = words ^ places
    found += np.uint64(column + 1)
    found *= _FIRST
    found ^= found >> _SHIFT
    found *= _SECOND
    return found


def _block_sums(words: Words, starts: IntArray) -> Words:
    """The sum of the words of each block, modulo 2**64."""
    if (starts[1:] > starts[:-1]).all():
        sums: Words = np.add.reduceat(words, starts[:-1])
        return sums
    running = np.zeros(len(words) + 1, dtype=np.uint64)
    np.cumsum(words, out=running[1:])
    ends: Words = running[starts]
    return ends[1:] - ends[:-1]


def _texts(values: Values) -> int:
    """The number of texts that a column's digest needs."""
    if isinstance(values, Encoded):
        return len(values.names)
    return len(values) if isinstance(values, np.ndarray) else 0


def _hashes_of(codes: IntArray, names: pa.StringArray) -> Words:
    """A number for each label, by its text."""
    if len(names) <= MOST_TEXTS:
        return _hashes(names)[codes]
    used, places = np.unique(codes, return_inverse=True)
    return _hashes(names.take(pa.array(used)))[places]


def _hashes(texts: Any) -> Words:
    """A number for each text; equal texts have equal numbers."""
    values = texts.to_numpy(zero_copy_only=False) if isinstance(texts, pa.Array) else texts
    found: Words = pd.util.hash_array(np.asarray(values, dtype=object), categorize=False)
    return found
