"""Columns of kind boxes: groups of numbers, one group a box."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.columns import BoxesColumn
from app.domain.verdict import ViolationCode
from app.grading.findings import Fault, Findings
from app.grading.numbers import NUMBER
from app.grading.sheet import Cells
from app.grading.tokens import split_cell, split_cells
from app.metrics.arrays import Boxes

_MISSING = Fault(
    ViolationCode.MISSING_VALUE,
    "list of boxes is empty",
    "lists of boxes are empty",
    "every row needs at least one box",
)
_BAD_BOXES = Fault(
    ViolationCode.BAD_FORMAT, "list of boxes is malformed", "lists of boxes are malformed"
)


def boxes_from_arrow(column: BoxesColumn, cells: pa.ChunkedArray) -> Boxes | None:
    """Decode all cells at once; None when any is not plainly right."""
    split = split_cells(cells, " ")
    if split is None:
        return None
    tokens, offsets = split
    width = len(column.fields)
    counts = np.diff(offsets)
    if (counts % width).any() or (not column.allow_empty and not counts.all()):
        return None
    if column.max_boxes is not None and counts.max() > column.max_boxes * width:
        return None
    # Tabs around a number would be skipped by the conversion, but are not by the rule.
    if pc.any(pc.match_substring(tokens, "\t")).as_py():
        return None
    try:
        numbers = tokens.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values = np.array(numbers.to_numpy(), dtype=np.float64).reshape(-1, width)
    if not np.isfinite(values).all():
        return None
    return Boxes(values, offsets // width, column.fields)


def boxes_from_cells(name: str, column: BoxesColumn, cells: Cells, findings: Findings) -> Boxes:
    """Decode cell by cell, recording what is wrong. Bad and absent cells become empty lists."""
    values: list[float] = []
    width = len(column.fields)
    offsets = np.zeros(len(cells) + 1, dtype=np.int64)
    for place, cell in enumerate(cells):
        if cell is not None:
            values += _numbers(name, column, cell, place + 1, findings)
        offsets[place + 1] = len(values) // width
    return Boxes(np.array(values, dtype=np.float64).reshape(-1, width), offsets, column.fields)


def _numbers(
    name: str, column: BoxesColumn, cell: str, row: int, findings: Findings
) -> list[float]:
    tokens = split_cell(cell, " ") or []
    if not tokens and not column.allow_empty:
        findings.count(_MISSING, name, row)
        return []
    numbers = [float(token) for token in tokens if NUMBER.fullmatch(token)]
    problem = _problem(column, len(tokens), numbers)
    if problem:
        findings.count(_BAD_BOXES, name, row, cell, problem)
        return []
    return numbers


def _problem(column: BoxesColumn, tokens: int, numbers: list[float]) -> str:
    fields = " ".join(column.fields)
    if len(numbers) != tokens or not all(map(math.isfinite, numbers)):
        return f"a token is not a finite number; write {fields} for every box"
    if tokens % len(column.fields):
        return f"expected {len(column.fields)} numbers for every box ({fields}), found {tokens}"
    boxes = tokens // len(column.fields)
    if column.max_boxes is not None and boxes > column.max_boxes:
        return f"expected at most {column.max_boxes} boxes, found {boxes}"
    return ""
