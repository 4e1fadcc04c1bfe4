"""Columns of labels as codes, which are comparable between answers and submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.columns import LabelColumn
from app.domain.verdict import ViolationCode
from app.grading.columns.numbers import MISSING, NUMBER
from app.grading.ids.distinct_texts import distinct_keys, distinct_texts
from app.grading.ids.fixed_width_index import KnownTexts, indexes_in, short_keys
from app.grading.ids.public_ids import IntArray
from app.grading.reading.text_table import Cells
from app.grading.reading.violations import FoundViolations, ViolationKind, shorten
from app.metrics.arrays import Lists

_SPREAD = 8  # a table of numbers may have at most this many entries for each number
_MANY = 10_000  # texts; from here on, turning short ones into numbers is faster

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
        """Approximate bytes in memory."""
        codes = self.codes if isinstance(self.codes, np.ndarray) else self.codes.codes
        return int(codes.nbytes) * 2 + int(self.names.nbytes)

    def take(self, rows: IntArray) -> Encoded:
        """The same labels in other rows."""
        if isinstance(self.codes, np.ndarray):
            return Encoded(self.codes[rows], self.names)
        return Encoded(self.codes.take(rows), self.names)

    def coded_by(self, names: pa.StringArray) -> IntArray | Lists:
        """The codes of these labels in `names`; labels not in it get codes beyond its end."""
        if self.names is names or self.names.equals(names):
            return self.codes
        codes = _indexes_in(self.names, names)
        unknown = codes < 0
        codes[unknown] = len(names) + np.arange(np.count_nonzero(unknown))
        if isinstance(self.codes, np.ndarray):
            return codes[self.codes]
        return Lists(codes[self.codes.codes], self.codes.offsets)


def known_names(names: pa.StringArray) -> KnownTexts | None:
    """An index of the answers' labels; None where there are too few to gain by it."""
    return KnownTexts.of(names) if len(names) >= _MANY else None


def code(
    cells: pa.Array | pa.ChunkedArray,
    labels: pa.StringArray | None,
    known: KnownTexts | None = None,
) -> Encoded | None:
    """Encode texts by declared labels, or by the labels that occur.

    Without declared labels, those of `known` are used if they have all texts. Returns None when a
    text is empty or not declared.
    """
    if labels is not None:
        found = pc.index_in(cells, value_set=labels)
        if found.null_count:
            return None
        return Encoded(found.to_numpy().astype(np.int64), labels)
    if not len(cells):
        return Encoded(np.empty(0, dtype=np.int64), pa.array([], pa.string()))
    if known is not None and len(cells) >= _MANY:
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        indexes = known.indexes(cells)
        if indexes is not None:
            return Encoded(indexes, known.texts)
    codes, names = distinct_texts(cells)
    return None if pc.index(names, "").as_py() >= 0 else Encoded(codes, names)


def code_numbers(numbers: pa.Int64Array, labels: pa.StringArray | None) -> Encoded | None:
    """Encode whole numbers from 0 up as `code` encodes their decimal texts."""
    if labels is not None or not len(numbers):
        return code(numbers.cast(pa.string()), labels)
    values = numbers.to_numpy()
    if int(values.max()) > _SPREAD * len(values) + _MANY:
        codes, first = distinct_keys(values.view(np.uint64))
        distinct = values[first]
    else:  # a table of all possible numbers is faster than a hash table
        is_there = np.zeros(int(values.max()) + 1, dtype=bool)
        is_there[values] = True
        distinct = np.flatnonzero(is_there)
        codes = (np.cumsum(is_there) - 1)[values]
    return Encoded(codes.astype(np.int64, copy=False), pa.array(distinct).cast(pa.string()))


def _indexes_in(texts: pa.StringArray, names: pa.StringArray) -> IntArray:
    """The index of each text in `names`, -1 where it is not there."""
    if len(texts) >= _MANY:
        keys, known = short_keys(texts), short_keys(names)
        if keys is not None and known is not None:
            return indexes_in(keys, known)
    found = pc.index_in(texts, value_set=names)
    return np.asarray(found.fill_null(-1).to_numpy(), dtype=np.int64).copy()


def labels_from_cells(
    name: str, column: LabelColumn, cells: Cells, violations: FoundViolations
) -> Encoded:
    """Decode cell by cell, and record the problems. Bad and absent cells get code 0."""
    label_codes = LabelCodes(column.labels)
    codes = np.zeros(len(cells), dtype=np.int64)
    for index, cell in enumerate(cells):
        if cell is None:
            continue
        found = label_codes.code(cell) if cell or label_codes.knows_empty else None
        if found is not None:
            codes[index] = found
        elif is_missing_label(cell):
            violations.count(_MISSING, name, index + 1, cell)
        else:
            violations.count(UNKNOWN, name, index + 1, cell, label_codes.about(cell))
    return Encoded(codes, label_codes.names())


def is_missing_label(cell: str) -> bool:
    """Whether a cell that is not a declared label means a missing label."""
    text = cell.strip().lower()
    return text in MISSING or text == "nan"


class LabelCodes:
    """The labels found so far and their codes; with declared labels, only those."""

    def __init__(self, declared: Sequence[str] | None) -> None:
        self._is_open = declared is None
        self._codes = {label: index for index, label in enumerate(dict.fromkeys(declared or ()))}
        self.knows_empty = "" in self._codes
        self._near: dict[str, str] = {}  # labels by their normalized texts, once one is unknown
        self._advice = ""

    def code(self, label: str) -> int | None:
        """The code of a label; None if it is not among the declared ones."""
        if self._is_open:
            return self._codes.setdefault(label, len(self._codes))
        return self._codes.get(label)

    def names(self) -> pa.StringArray:
        """The labels in the order of their codes."""
        return pa.array(list(self._codes), pa.string())

    def about(self, unknown: str) -> str:
        """Advice on an unknown label: the declared label that it resembles, or all of them."""
        if not self._advice:
            known = list(self._codes)
            self._near = {_normalized(label): label for label in reversed(known)}
            shown = ", ".join(repr(shorten(label)) for label in known[:10])
            more = f" ... ({len(known)})" if len(known) > 10 else ""
            self._advice = f"expected one of {shown}{more}"
        near = self._near.get(_normalized(unknown))
        if near is None:
            return self._advice
        return f"{shorten(near)!r} is expected; labels must agree letter by letter"


def _normalized(label: str) -> str:
    text = label.strip().casefold()
    return repr(float(text)) if NUMBER.fullmatch(text) else text
