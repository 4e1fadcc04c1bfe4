"""Columns of kind list: items joined by a separator."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.columns import ListColumn
from app.domain.verdict import ViolationCode
from app.domain.wording import counted
from app.grading.columns.labels import UNKNOWN, Encoded, LabelCodes, code, code_numbers
from app.grading.ids.fixed_width_index import KnownTexts
from app.grading.ids.public_ids import IntArray
from app.grading.reading.text_table import Cells
from app.grading.reading.tokens import (
    MOST_DIGITS,
    all_match,
    each_matches,
    is_whole,
    split_cell,
    split_cells,
)
from app.grading.reading.violations import FoundViolations, ViolationKind
from app.metrics.arrays import Lists

_MISSING = ViolationKind(
    ViolationCode.MISSING_VALUE, "list is empty", "lists are empty", "fill every row"
)
_BAD_LIST = ViolationKind(ViolationCode.BAD_FORMAT, "list is malformed", "lists are malformed")


def lists_from_arrow(
    column: ListColumn,
    labels: pa.StringArray | None,
    cells: pa.ChunkedArray,
    known: KnownTexts | None = None,
) -> Encoded | None:
    """Decode all cells at once; None when any may be invalid."""
    if column.empty and pc.any(pc.equal(cells, "")).as_py():
        return None
    split = split_cells(cells, column.separator)
    if split is None:
        return None
    tokens, offsets = split
    lengths = np.diff(offsets)
    if column.min_items and lengths.min() < column.min_items:
        return None
    if column.max_items is not None and lengths.max() > column.max_items:
        return None
    if column.pattern is not None and not all_match(tokens, column.pattern):
        return None
    if column.items == "integer":
        numbers = _whole_numbers(column, tokens)
        if numbers is None:
            return None
        coded = code_numbers(numbers, labels)
    else:
        coded = code(tokens, labels, known)
    if coded is None or not isinstance(coded.codes, np.ndarray):
        return None
    if column.distinct and _has_repeats(coded.codes, lengths):
        return None
    return Encoded(Lists(coded.codes, offsets), coded.names)


def _whole_numbers(column: ListColumn, tokens: pa.StringArray) -> pa.Int64Array | None:
    """The tokens as numbers; None when one is not a number or is out of range."""
    if not pc.all(pc.ascii_is_decimal(tokens), min_count=0).as_py():
        return None
    if (pc.max(pc.binary_length(tokens)).as_py() or 0) > MOST_DIGITS:
        return None
    numbers = tokens.cast(pa.int64())
    low, high = pc.min(numbers).as_py(), pc.max(numbers).as_py()
    if low is not None and not (column.min or 0) <= low <= high <= _largest(column):
        return None
    return numbers


def _largest(column: ListColumn) -> int:
    most: int = 10**MOST_DIGITS - 1
    return most if column.max is None else min(column.max, most)


def _has_repeats(codes: IntArray, lengths: IntArray) -> bool:
    if not len(codes):
        return False
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    keys = np.sort(rows * (int(codes.max()) + 1) + codes)
    return bool((keys[1:] == keys[:-1]).any())


def lists_from_cells(
    name: str, column: ListColumn, cells: Cells, violations: FoundViolations
) -> Encoded:
    """Decode cell by cell, and record the problems. Bad and absent cells become empty lists."""
    label_codes = LabelCodes(column.labels)
    codes: list[int] = []
    offsets = np.zeros(len(cells) + 1, dtype=np.int64)
    for index, cell in enumerate(cells):
        if cell is not None:
            codes += _items(name, column, cell, index + 1, label_codes, violations)
        offsets[index + 1] = len(codes)
    return Encoded(Lists(np.array(codes, dtype=np.int64), offsets), label_codes.names())


def _items(
    name: str,
    column: ListColumn,
    cell: str,
    row: int,
    label_codes: LabelCodes,
    violations: FoundViolations,
) -> list[int]:
    if column.empty and not cell:
        violations.count(_MISSING, name, row, advice="write a blank in quotes for an empty list")
        return []
    tokens = split_cell(cell, column.separator)
    problem = _list_problem(column, tokens)
    if problem and not tokens and not cell.strip():
        violations.count(_MISSING, name, row)
    elif problem or tokens is None:
        violations.count(_BAD_LIST, name, row, cell, problem)
    else:
        # A cell may have millions of items: no object is made for each but its code.
        codes, unknown = [], []
        for token in tokens:
            item = str(int(token)) if column.items == "integer" else token
            found = label_codes.code(item)
            if found is None:
                unknown.append(item)
            else:
                codes.append(found)
        if unknown:
            violations.count_all(UNKNOWN, name, row, unknown, label_codes.about(unknown[0]))
        return codes
    return []


def _list_problem(column: ListColumn, tokens: list[str] | None) -> str:
    if tokens is None:
        return f"an item is empty; join items by {column.separator!r}"
    if len(tokens) < column.min_items:
        return f"expected at least {counted(column.min_items, 'item')}, found {len(tokens)}"
    if column.max_items is not None and len(tokens) > column.max_items:
        return (
            f"expected at most {counted(column.max_items, 'item')} joined by {column.separator!r}, "
            f"found {len(tokens)}"
        )
    if column.items == "integer":
        low, high = column.min or 0, _largest(column)
        if not all(is_whole(token) and low <= int(token) <= high for token in tokens):
            return f"an item is not a whole number from {low} to {high}"
    if column.pattern is not None and not all(each_matches(tokens, column.pattern)):
        return f"an item is not of the form {column.pattern}"
    if column.distinct:
        # 7 and 007 are one integer; here all tokens are known to be whole numbers.
        items = set(map(int, tokens)) if column.items == "integer" else set(tokens)
        if len(items) != len(tokens):
            return "an item is repeated; items must be distinct"
    return ""
