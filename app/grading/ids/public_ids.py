"""The public ids: the rows that a submission must have, and their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.grading.ids.id_keys import EXACT_MATCHING, JOINT, IntArray, Matching

__all__ = ["JOINT", "IdsDifferError", "IntArray", "PublicIds", "row_numbers", "show_id"]

# Ids are found in a table if they are whole numbers in a range of at most this times their count.
_SPREAD = 8


class IdsDifferError(Exception):
    """The submitted ids are not exactly the public ones."""


class PublicIds:
    """The expected ids, in the order of the sample submission. Cheap to pickle.

    >>> ids = PublicIds.from_columns([pa.array(["a", "b", "c"])])
    >>> ids.order([pa.chunked_array([["c", "a", "b"]])])
    array([1, 2, 0])
    """

    def __init__(
        self, columns: Sequence[pa.StringArray], matching: Matching = EXACT_MATCHING
    ) -> None:
        self.columns = tuple(columns)
        self.matching = matching
        self.rows = len(self.columns[0])
        self._chunked = [pa.chunked_array([column]) for column in self.columns]
        self._keys: pa.Array | None = None
        self._table: tuple[int, IntArray] | None = None

    def __reduce__(self) -> tuple[type[PublicIds], tuple[tuple[pa.StringArray, ...], Matching]]:
        return PublicIds, (self.columns, self.matching)

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[pa.StringArray | pa.ChunkedArray],
        matching: Matching = EXACT_MATCHING,
    ) -> PublicIds:
        """Ids from one array of texts per id column.

        Raises:
            ValueError: there are no rows, an id is empty, or two are the same.
        """
        arrays = [_contiguous(column) for column in columns]
        if not arrays or not len(arrays[0]):
            raise ValueError("there are no ids")
        if any(array.null_count or pc.any(pc.equal(array, "")).as_py() for array in arrays):
            raise ValueError("an id is empty")
        ids = cls(arrays, matching)
        if len(pc.unique(ids.keys())) != ids.rows:
            raise ValueError("an id is given twice")
        return ids

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(int(column.nbytes) for column in self.columns)

    def order(self, submitted: Sequence[pa.ChunkedArray]) -> IntArray | None:
        """The rows of `submitted` in the order of these ids; None if they are in order already.

        Raises:
            IdsDifferError: they are not these ids, each once.
        """
        if self._are_in_order(submitted):
            return None
        if len(submitted[0]) != self.rows:
            raise IdsDifferError
        positions = self.positions(submitted)
        rows = np.full(self.rows, -1, dtype=np.int64)
        rows[positions] = np.arange(self.rows, dtype=np.int64)
        # As many rows as ids, all known: one that is never hit means that another came twice.
        if rows.min() < 0:
            raise IdsDifferError
        return rows

    def keys(self) -> pa.Array:
        """One text for each row: the id as it is compared, its parts joined by `JOINT`."""
        if self._keys is None:
            self._keys = self.matching.keys(self.columns)
        return self._keys

    def key(self, row: int) -> str:
        """The key of one row."""
        return str(self.keys()[row])

    def texts(self) -> Iterator[str]:
        """The keys as Python texts."""
        for start in range(0, self.rows, 65_536):
            yield from self.keys().slice(start, 65_536).to_pylist()

    def positions(self, submitted: Sequence[pa.ChunkedArray]) -> IntArray:
        """The position of each submitted row among these ids.

        Raises:
            IdsDifferError: an id is none of these.
        """
        if self._are_in_order(submitted):
            return np.arange(self.rows, dtype=np.int64)
        if len(submitted) == 1 and not self.matching.repeated:
            positions = self._looked_up(submitted[0])
            if positions is not None:
                return positions
        # Nearly all files have the ids as they are; to read them as numbers takes longer.
        plain = replace(self.matching, numeric=False)
        found = pc.index_in(plain.keys(submitted), value_set=self.keys())
        if found.null_count and self.matching.numeric:
            found = pc.index_in(self.matching.keys(submitted), value_set=self.keys())
        if found.null_count:
            raise IdsDifferError
        return np.asarray(found.to_numpy()).astype(np.int64)

    def _are_in_order(self, submitted: Sequence[pa.ChunkedArray]) -> bool:
        return all(s.equals(c) for s, c in zip(submitted, self._chunked, strict=True))

    def _looked_up(self, submitted: pa.ChunkedArray) -> IntArray | None:
        """Positions from a table of whole numbers; None where the ids are not whole numbers."""
        if self._table is None:
            self._table = _index_by_number(self.columns[0])
        first, table = self._table
        numbers = _whole_numbers(submitted) if len(table) else None
        if numbers is None:
            return None
        if int(numbers.min()) < first or int(numbers.max()) - first >= len(table):
            raise IdsDifferError
        positions: IntArray = table[numbers - first]
        if positions.min() < 0:
            raise IdsDifferError
        return positions


def row_numbers(rows: int) -> pa.StringArray:
    """Row numbers as ids, for rows whose position is their id: "0", "1", ...

    >>> row_numbers(2).to_pylist()
    ['0', '1']
    """
    return pa.array(np.arange(rows)).cast(pa.string())


def show_id(key: str) -> str:
    r"""A key in a form for messages.

    >>> show_id("7\0" + "2013-01-01")
    '7, 2013-01-01'
    """
    return key.replace(JOINT, ", ")


def _index_by_number(ids: pa.StringArray) -> tuple[int, IntArray]:
    """The smallest id, and the row or -1 of each number from there; empty if not numbers."""
    nothing = (0, np.empty(0, dtype=np.int64))
    numbers = _whole_numbers(ids)
    if numbers is None:
        return nothing
    first, last = int(numbers.min()), int(numbers.max())
    if last - first >= _SPREAD * len(numbers):
        return nothing
    table = np.full(last - first + 1, -1, dtype=np.int64)
    table[numbers - first] = np.arange(len(numbers), dtype=np.int64)
    return first, table


def _whole_numbers(texts: pa.Array | pa.ChunkedArray) -> IntArray | None:
    """The texts as numbers; None if one is not in shortest form ("7", not "07" or "+7")."""
    if texts.null_count:  # cells that a malformed row does not have
        return None
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    if not numbers.cast(pa.string()).equals(texts):
        return None
    return np.asarray(numbers.to_numpy(), dtype=np.int64)


def _contiguous(column: pa.Array | pa.ChunkedArray) -> pa.StringArray:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.cast(pa.string())
