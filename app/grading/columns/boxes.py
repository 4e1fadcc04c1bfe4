"""Columns of kind boxes: one group of numbers for each box."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.columns import BoxesColumn
from app.domain.verdict import ViolationCode
from app.domain.wording import counted
from app.grading.columns.labels import UNKNOWN
from app.grading.columns.numbers import NUMBER
from app.grading.ids.distinct_texts import distinct_texts
from app.grading.reading.text_table import Cells
from app.grading.reading.tokens import split_cell, split_cells
from app.grading.reading.violations import FoundViolations, ViolationKind
from app.metrics.arrays import Boxes, FloatArray

_MISSING = ViolationKind(
    ViolationCode.MISSING_VALUE,
    "list of boxes is empty",
    "lists of boxes are empty",
    "every row needs at least one box",
)
Code = Callable[[str], int | None]

_CODE_POINT = re.compile("U[+][0-9A-F]{4,6}")
_BAD_BOXES = ViolationKind(
    ViolationCode.BAD_FORMAT, "list of boxes is malformed", "lists of boxes are malformed"
)


def boxes_from_arrow(column: BoxesColumn, cells: pa.ChunkedArray) -> Boxes | None:
    """Decode all cells at once; None when any may be invalid."""
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
    # The conversion would skip tabs around a number, which are not allowed.
    if pc.any(pc.match_substring(tokens, "\t")).as_py():
        return None
    if column.label is not None:
        plain = _labels_as_numbers(column, tokens)
        if plain is None:
            return None
        tokens = plain
    try:
        numbers = tokens.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values = np.array(numbers.to_numpy(), dtype=np.float64).reshape(-1, width)
    if not np.isfinite(values).all() or _box_problem(column, values):
        return None
    return Boxes(values, offsets // width, column.fields)


def boxes_from_cells(
    name: str, column: BoxesColumn, cells: Cells, violations: FoundViolations
) -> Boxes:
    """Decode cell by cell, and record the problems. Bad and absent cells become empty lists."""
    values: list[float] = []
    width = len(column.fields)
    offsets = np.zeros(len(cells) + 1, dtype=np.int64)
    code = _code_of(column)
    for index, cell in enumerate(cells):
        if cell is not None:
            values += _numbers(name, column, code, cell, index + 1, violations)
        offsets[index + 1] = len(values) // width
    return Boxes(np.array(values, dtype=np.float64).reshape(-1, width), offsets, column.fields)


def _numbers(
    name: str, column: BoxesColumn, code: Code, cell: str, row: int, violations: FoundViolations
) -> list[float]:
    tokens = split_cell(cell, " ") or []
    if not tokens and not column.allow_empty:
        violations.count(_MISSING, name, row)
        return []
    width = len(column.fields)
    if column.label is not None and len(tokens) % width == 0:
        index = column.fields.index(column.label)
        for strange in (t for t in tokens[index::width] if code(t) is None):
            violations.count(UNKNOWN, name, row, strange, _about_labels(column))
            return []
        tokens[index::width] = [str(code(t)) for t in tokens[index::width]]
    numbers = [float(token) for token in tokens if NUMBER.fullmatch(token)]
    problem = _token_problem(column, len(tokens), numbers)
    problem = problem or _box_problem(column, np.array(numbers).reshape(-1, width))
    if problem:
        violations.count(_BAD_BOXES, name, row, cell, problem)
        return []
    return numbers


def _labels_as_numbers(column: BoxesColumn, tokens: pa.StringArray) -> pa.StringArray | None:
    """The tokens with labels replaced by their numbers; None when a label is unknown."""
    width = len(column.fields)
    indexes = np.arange(len(tokens)) % width == column.fields.index(str(column.label))
    labels = tokens.filter(pa.array(indexes))
    places, distinct = distinct_texts(labels)
    codes = list(map(_code_of(column), distinct.to_pylist()))
    if None in codes:
        return None
    written = pa.array([str(code) for code in codes], pa.string())
    plain = written.take(pa.array(places))
    replaced: pa.StringArray = pc.replace_with_mask(tokens, pa.array(indexes), plain)
    return replaced


def _code_of(column: BoxesColumn) -> Code:
    """A function from a label to its number; None for an unknown one."""
    if column.labels == "unicode":
        return lambda label: int(label[2:], 16) if _CODE_POINT.fullmatch(label) else None
    # The first of equal labels counts.
    return {label: index for index, label in reversed(list(enumerate(column.labels or ())))}.get


def _about_labels(column: BoxesColumn) -> str:
    if column.labels == "unicode":
        return "write a character as its code point, such as U+30CF"
    return "expected one of " + ", ".join(column.labels or ())


def _box_problem(column: BoxesColumn, values: FloatArray) -> str:
    """The problem of a box whose fields are all numbers; empty when there is none."""
    of = {name: values[:, index] for index, name in enumerate(column.fields)}
    for name in column.probabilities:
        if ((of[name] < 0.0) | (of[name] > 1.0)).any():
            return f"{name} must be from 0 to 1"
    for name in column.positive:
        if (of[name] <= 0.0).any():
            return f"{name} must be above 0"
    for low, high in column.ascending:
        if (of[low] > of[high]).any():
            return f"{low} must not be above {high}"
    return ""


def _token_problem(column: BoxesColumn, tokens: int, numbers: list[float]) -> str:
    fields = " ".join(column.fields)
    # First, since labels of an incomplete box cannot be told from numbers.
    if tokens % len(column.fields):
        each = "numbers" if column.label is None else "tokens"
        return f"expected {len(column.fields)} {each} for every box ({fields}), found {tokens}"
    if len(numbers) != tokens or not all(map(math.isfinite, numbers)):
        return f"a token is not a finite number; write {fields} for every box"
    boxes = tokens // len(column.fields)
    if column.max_boxes is not None and boxes > column.max_boxes:
        return f"expected at most {counted(column.max_boxes, 'box', 'boxes')}, found {boxes}"
    return ""
