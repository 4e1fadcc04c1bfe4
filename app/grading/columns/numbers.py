"""Columns of kind number, probability, integer and boolean as float64, for both checks."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.domain.columns import BooleanColumn, IntegerColumn, NumberColumn, ProbabilityColumn
from app.domain.verdict import ViolationCode
from app.grading.reading.text_table import Cells
from app.grading.reading.violations import FoundViolations, ViolationKind

FloatArray = NDArray[np.float64]
NumberLike = NumberColumn | ProbabilityColumn | IntegerColumn | BooleanColumn

# A number has ASCII digits, a point and an exponent. Python's float() accepts more (underscores,
# digits of other scripts, "nan"), and parsers in C accept other things again.
NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
BLANKS = " \t"  # allowed around a number
MISSING = frozenset({"", "na", "n/a", "#n/a", "#na", "<na>", "null", "none"})
_NOT_FINITE_WORDS = frozenset({"nan", "inf", "infinity"})

_TRUE_FALSE = ("True", "False", "true", "false", "TRUE", "FALSE", "1", "0", "1.0", "0.0")
_SPELLINGS = pa.array(_TRUE_FALSE)
_FIRST_NUMERAL = 6
_TRUTH = np.array([1.0, 0.0] * 5)

_MISSING = ViolationKind(
    ViolationCode.MISSING_VALUE, "value is missing", "values are missing", "fill every row"
)
_NOT_A_NUMBER = ViolationKind(
    ViolationCode.NOT_A_NUMBER,
    "value is not a number",
    "values are not numbers",
    "write plain decimal numbers such as 0.5 or 1e-3",
)
_NOT_FINITE = ViolationKind(
    ViolationCode.NOT_FINITE,
    "value is not finite",
    "values are not finite",
    "NaN and infinity cannot be scored; write a finite number",
)
_OUT_OF_RANGE = ViolationKind(
    ViolationCode.OUT_OF_RANGE, "value is out of range", "values are out of range"
)
_NOT_WHOLE = ViolationKind(
    ViolationCode.BAD_FORMAT,
    "value is not a whole number",
    "values are not whole numbers",
    "write whole numbers such as 3 or 3.0; round predictions",
)
_BAD_BOOLEAN = ViolationKind(
    ViolationCode.BAD_FORMAT,
    "value is not a boolean as this column spells them",
    "values are not booleans as this column spells them",
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The smallest and largest value that a column allows, and whether only whole numbers."""

    low: float
    high: float
    integers: bool = False

    @classmethod
    def of(cls, column: NumberLike) -> Bounds:
        """The bounds of a declared column."""
        if isinstance(column, BooleanColumn):
            return cls(0.0, 1.0)
        largest = sys.float_info.max
        return cls(
            low=-largest if column.min is None else float(column.min),
            high=largest if column.max is None else float(column.max),
            integers=isinstance(column, IntegerColumn),
        )

    def admit(self, values: FloatArray) -> bool:
        """Whether all values are finite and in bounds. NaN fails both comparisons."""
        inside = values.min() >= self.low and values.max() <= self.high
        return bool(inside and (not self.integers or np.array_equal(values, np.rint(values))))

    def __str__(self) -> str:
        # The shortest text of a double: with more digits, 0.7 would be 0.69999999999999996.
        low, high = (repr(bound).removesuffix(".0") for bound in (self.low, self.high))
        largest = sys.float_info.max
        if self.low > -largest and self.high < largest:
            return f"from {low} to {high}"
        return f"of at least {low}" if self.low > -largest else f"of at most {high}"


def is_fast_number(column: object) -> bool:
    """Whether the fast reader may parse this column as float64."""
    return isinstance(column, NumberColumn | ProbabilityColumn | IntegerColumn)


def fill_numbers(column: pa.ChunkedArray, out: FloatArray) -> bool:
    """Copy a float64 column into `out`; False when a value is missing."""
    if column.null_count:
        return False
    start = 0
    for chunk in column.chunks:
        out[start : start + len(chunk)] = chunk.to_numpy()
        start += len(chunk)
    return True


def fill_booleans(column: pa.ChunkedArray, out: FloatArray) -> bool:
    """Decode a text column of the commonest spellings; False for any other, or a mixture."""
    codes = pc.index_in(column, value_set=_SPELLINGS)
    if codes.null_count:
        return False
    spelled = codes.to_numpy()
    numerals = spelled >= _FIRST_NUMERAL
    if numerals.any() != numerals.all():
        return False
    np.take(_TRUTH, spelled, out=out)
    return True


def numbers_from_cells(
    name: str, column: NumberLike, cells: Cells, violations: FoundViolations
) -> FloatArray:
    """Decode cell by cell, and record the problems. Bad and absent cells become NaN."""
    if isinstance(column, BooleanColumn):
        return _booleans_from_cells(name, cells, violations)
    bounds = Bounds.of(column)
    values = np.full(len(cells), np.nan)
    for index, cell in enumerate(cells):
        if cell is None:
            continue
        text = cell.strip(BLANKS)
        if not NUMBER.fullmatch(text):
            _report_no_number(name, text, cell, index + 1, violations)
            continue
        value = float(text)
        if math.isinf(value):
            advice = "this number is too large for a float64; write a finite number"
            violations.count(_NOT_FINITE, name, index + 1, cell, advice)
        elif bounds.integers and value != math.floor(value):
            violations.count(_NOT_WHOLE, name, index + 1, cell)
        elif not bounds.low <= value <= bounds.high:
            violations.count(_OUT_OF_RANGE, name, index + 1, cell, f"expected a number {bounds}")
        else:
            values[index] = value
    return values


def _report_no_number(
    name: str, text: str, cell: str, row: int, violations: FoundViolations
) -> None:
    lowered = text.lower()
    if lowered in MISSING:
        violations.count(_MISSING, name, row, cell)
    elif lowered.lstrip("+-") in _NOT_FINITE_WORDS:
        violations.count(_NOT_FINITE, name, row, cell)
    else:
        violations.count(_NOT_A_NUMBER, name, row, cell, _about_spelling(text))


def _about_spelling(text: str) -> str:
    """Advice on the commonest spellings of numbers that are not accepted."""
    if "%" in text:
        return "write 0.5 instead of 50%"
    if "," in text:
        return "write 1234.5 with a decimal point and without thousands separators"
    if "_" in text or " " in text:
        return "write 1000 without separators between digits"
    if not text.isascii() and any(c.isdigit() for c in text):
        return "write only ASCII digits, points and signs (0 to 9, '.', '+' and '-')"
    if text.lstrip("+-").lower().startswith("0x"):
        return "write decimal numbers, not hexadecimal ones"
    if text.lower() in ("true", "false"):
        return "write 1 and 0 in a column of numbers"
    return ""


def _booleans_from_cells(name: str, cells: Cells, violations: FoundViolations) -> FloatArray:
    values = np.full(len(cells), np.nan)
    is_word: bool | None = None
    for index, cell in enumerate(cells):
        if cell is None:
            continue
        text = cell.strip(BLANKS).lower()
        if text in MISSING or text == "nan":
            violations.count(_MISSING, name, index + 1, cell)
            continue
        if text not in ("true", "false", "1", "0", "1.0", "0.0"):
            advice = "write True and False, or 1 and 0; turn probabilities into decisions"
            violations.count(_BAD_BOOLEAN, name, index + 1, cell, advice)
            continue
        word = text in ("true", "false")
        if is_word is None:
            is_word = word
        if word is is_word:
            values[index] = text in ("true", "1", "1.0")
        else:
            advice = "write either True and False, or 1 and 0, throughout"
            violations.count(_BAD_BOOLEAN, name, index + 1, cell, advice)
    return values
