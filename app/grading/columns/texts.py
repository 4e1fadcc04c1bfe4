"""Columns of kind text: any text, as written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.domain.columns import TextColumn
from app.domain.verdict import ViolationCode
from app.domain.wording import counted
from app.grading.ids.distinct_texts import distinct_texts
from app.grading.reading.text_table import Cells
from app.grading.reading.tokens import all_match, each_matches
from app.grading.reading.violations import FoundViolations, ViolationKind

TextArray = NDArray[np.object_]

_MISSING = ViolationKind(
    ViolationCode.MISSING_VALUE, "text is missing", "texts are missing", "fill every row"
)
_ODD_TEXT = ViolationKind(
    ViolationCode.BAD_FORMAT, "text is not of the right form", "texts are not of the right form"
)
_TOO_LONG = ViolationKind(ViolationCode.BAD_FORMAT, "text is too long", "texts are too long")


def texts_from_arrow(column: TextColumn, cells: pa.ChunkedArray) -> TextArray | None:
    """All cells as Python texts; None when one is empty or too long and may not be."""
    if not column.allow_empty and pc.any(pc.equal(cells, "")).as_py():
        return None
    if column.same_as_empty:
        is_empty = pc.is_in(cells, value_set=pa.array(column.same_as_empty, pa.string()))
        cells = pc.if_else(is_empty, "", cells)
    if column.max_length is not None and pc.max(pc.utf8_length(cells)).as_py() > column.max_length:
        return None
    if column.pattern is not None:
        distinct = distinct_texts(cells)[1]
        if not all_match(distinct.filter(pc.not_equal(distinct, "")), column.pattern):
            return None
    texts: TextArray = cells.to_numpy(zero_copy_only=False)
    return texts


def texts_from_cells(
    name: str, column: TextColumn, cells: Cells, violations: FoundViolations
) -> TextArray:
    """All cells as Python texts; record the problems. Absent cells become empty texts."""
    empty = frozenset(("", *column.same_as_empty))
    fits = None if column.pattern is None else each_matches(cells, column.pattern)
    for index, cell in enumerate(cells):
        if cell is None:
            continue
        if not cell and not column.allow_empty:
            violations.count(_MISSING, name, index + 1)
        elif cell in empty:
            continue
        elif column.max_length is not None and len(cell) > column.max_length:
            violations.count(
                _TOO_LONG,
                name,
                index + 1,
                cell,
                f"expected at most {counted(column.max_length, 'character')}, found {len(cell)}",
            )
        elif fits is not None and not fits[index]:
            violations.count(_ODD_TEXT, name, index + 1, cell, f"expected {column.pattern}")
    texts = np.empty(len(cells), dtype=object)
    texts[:] = ["" if cell is None or cell in empty else cell for cell in cells]
    return texts
