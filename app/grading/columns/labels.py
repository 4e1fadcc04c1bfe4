"""Columns of labels and of lists: codes into a book of names, made comparable with the answers'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.columns import LabelColumn
from app.domain.verdict import ViolationCode
from app.grading.columns.numbers import MISSING, NUMBER
from app.grading.ids.fixed_width_index import KnownTexts, factorize, places_in, short_keys
from app.grading.ids.public_ids import IntArray
from app.grading.reading.text_table import Cells
from app.grading.violations import FoundViolations, ViolationKind, shorten
from app.metrics.arrays import Lists

_SPREAD = 8  # how many times as many as numbers there are may a table of them have
_MANY = 10_000  # texts, from which on short ones are worth turning into numbers

_MISSING = ViolationKind(
    ViolationCode.MISSING_VALUE, "label is missing", "labels are missing", "fill every row"
)
UNKNOWN = ViolationKind(ViolationCode.UNKNOWN_LABEL, "label is unknown", "labels are unknown")


@dataclass(frozen=True, slots=True)
class Encoded:
    """Labels or lists of labels as codes: `names[code]` is the label. Names are distinct."""

    codes: IntArray | Lists
    names: pa.StringArray

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        codes = self.codes if isinstance(self.codes, np.ndarray) else self.codes.codes
        return int(codes.nbytes) * 2 + int(self.names.nbytes)

    def take(self, rows: IntArray) -> Encoded:
        """The same labels in other rows."""
        if isinstance(self.codes, np.ndarray):
            return Encoded(self.codes[rows], self.names)
        return Encoded(self.codes.take(rows), self.names)

    def coded_by(self, book: pa.StringArray) -> IntArray | Lists:
        """The codes these labels have in `book`; labels not in it get codes beyond its end."""
        if self.names is book or self.names.equals(book):
            return self.codes
        codes = _places_in(self.names, book)
        strange = codes < 0
        codes[strange] = len(book) + np.arange(np.count_nonzero(strange))
        if isinstance(self.codes, np.ndarray):
            return codes[self.codes]
        return Lists(codes[self.codes.codes], self.codes.offsets)


def known_names(names: pa.StringArray) -> KnownTexts | None:
    """The answers' names, to be found in submissions; None where looking them up gains nothing."""
    return KnownTexts.of(names) if len(names) >= _MANY else None


def code(
    cells: pa.Array | pa.ChunkedArray, book: pa.StringArray | None, known: KnownTexts | None = None
) -> Encoded | None:
    """Code texts by a declared book, or by a new one; None when one is not in it, or empty.

    Where all are among the `known`, those are the new book.
    """
    if book is not None:
        found = pc.index_in(cells, value_set=book)
        if found.null_count:
            return None
        return Encoded(found.to_numpy().astype(np.int64), book)
    if not len(cells):
        return Encoded(np.empty(0, dtype=np.int64), pa.array([], pa.string()))
    if known is not None and len(cells) >= _MANY:
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        places = known.places(cells)
        if places is not None:
            return Encoded(places, known.texts)
    if isinstance(cells, pa.StringArray) and len(cells) >= _MANY:
        keys = short_keys(cells)
        if keys is not None:
            codes, first = factorize(keys)
            # The key of the empty text is 0.
            return Encoded(codes, cells.take(pa.array(first))) if keys.all() else None
    coded = cells.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    if pc.index(coded.dictionary, "").as_py() >= 0:
        return None
    return Encoded(coded.indices.to_numpy().astype(np.int64), coded.dictionary)


def code_numbers(numbers: pa.Int64Array, book: pa.StringArray | None) -> Encoded | None:
    """Code whole numbers, none of them negative, as `code` does their decimal texts."""
    if book is not None or not len(numbers):
        return code(numbers.cast(pa.string()), book)
    values = numbers.to_numpy()
    if int(values.max()) > _SPREAD * len(values) + _MANY:
        codes, distinct = pd.factorize(values)
    else:  # a table of all numbers there could be is quicker than one of hashes
        is_there = np.zeros(int(values.max()) + 1, dtype=bool)
        is_there[values] = True
        distinct = np.flatnonzero(is_there)
        codes = (np.cumsum(is_there) - 1)[values]
    return Encoded(codes.astype(np.int64, copy=False), pa.array(distinct).cast(pa.string()))


def _places_in(names: pa.StringArray, book: pa.StringArray) -> IntArray:
    """The place of each name in `book`, -1 where it is not there."""
    if len(names) >= _MANY:
        keys, known = short_keys(names), short_keys(book)
        if keys is not None and known is not None:
            return places_in(keys, known)
    found = pc.index_in(names, value_set=book)
    return np.asarray(found.fill_null(-1).to_numpy(), dtype=np.int64).copy()


def labels_from_cells(
    name: str, column: LabelColumn, cells: Cells, violations: FoundViolations
) -> Encoded:
    """Decode cell by cell, recording what is wrong. Bad and absent cells get code 0."""
    book = LabelCodes(column.labels)
    codes = np.zeros(len(cells), dtype=np.int64)
    for place, cell in enumerate(cells):
        if cell is None:
            continue
        found = book.code(cell) if cell or book.knows_empty else None
        if found is not None:
            codes[place] = found
        elif is_missing_label(cell):
            violations.count(_MISSING, name, place + 1, cell)
        else:
            violations.count(UNKNOWN, name, place + 1, cell, book.about(cell))
    return Encoded(codes, book.names())


def is_missing_label(cell: str) -> bool:
    """Whether a cell that is no declared label stands for a missing one."""
    text = cell.strip().lower()
    return text in MISSING or text == "nan"


class LabelCodes:
    """The labels met so far and their codes; closed when the labels are declared."""

    def __init__(self, declared: Sequence[str] | None) -> None:
        self._is_open = declared is None
        self._codes = {label: place for place, label in enumerate(declared or ())}
        self.knows_empty = "" in self._codes

    def code(self, label: str) -> int | None:
        """The code of a label; None if it is not among the declared ones."""
        if self._is_open:
            return self._codes.setdefault(label, len(self._codes))
        return self._codes.get(label)

    def names(self) -> pa.StringArray:
        """The labels in the order of their codes."""
        return pa.array(list(self._codes), pa.string())

    def about(self, stranger: str) -> str:
        """Which labels are expected, and whether the stranger is one of them in disguise."""
        plain = _plain(stranger)
        for label in self._codes:
            if _plain(label) == plain:
                return f"{shorten(label)!r} is expected; labels must agree letter by letter"
        known = list(self._codes)
        shown = ", ".join(repr(shorten(label)) for label in known[:10])
        return f"expected one of {shown}" + (f" ... ({len(known)})" if len(known) > 10 else "")


def _plain(label: str) -> str:
    text = label.strip().casefold()
    return repr(float(text)) if NUMBER.fullmatch(text) else text
