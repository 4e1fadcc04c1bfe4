"""Columns of kind mask: run-length encoded pixels, as pairs of start and length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.columns import MOST_PIXELS, MaskColumn
from app.domain.verdict import ViolationCode
from app.grading.ids.public_ids import IntArray
from app.grading.reading.text_table import Cells
from app.grading.reading.tokens import MOST_DIGITS, is_whole, split_cell, split_cells
from app.grading.reading.violations import FoundViolations, ViolationKind
from app.metrics.arrays import Masks, row_of_each

_MISSING = ViolationKind(ViolationCode.MISSING_VALUE, "mask is missing", "masks are missing")
_BAD_MASK = ViolationKind(ViolationCode.BAD_FORMAT, "mask is malformed", "masks are malformed")


def masks_from_arrow(column: MaskColumn, cells: pa.ChunkedArray) -> Masks | None:
    """Decode all cells at once; None when any may be invalid."""
    if column.empty:
        if pc.any(pc.equal(pc.utf8_trim(cells, " "), "")).as_py():
            return None
        cells = pc.if_else(pc.equal(cells, column.empty), "", cells)
    split = split_cells(cells, " ")
    if split is None:
        return None
    tokens, offsets = split
    if not pc.all(pc.ascii_is_decimal(tokens), min_count=0).as_py():
        return None
    if (pc.max(pc.binary_length(tokens)).as_py() or 0) > MOST_DIGITS or (offsets % 2).any():
        return None
    numbers = np.asarray(tokens.cast(pa.int64()).to_numpy(), dtype=np.int64)
    if not column.allow_empty and not np.diff(offsets).all():
        return None
    starts = numbers[0::2] - column.start
    lengths = np.ascontiguousarray(numbers[1::2])
    pixels = column.pixels or MOST_PIXELS
    runs = offsets // 2
    if len(starts):
        if starts.min() < 0 or lengths.min() < 1 or lengths.max() > pixels:
            return None
        ends = starts + lengths
        if ends.max() > pixels:
            return None
        # Within a row each run begins at or after the end of the one before.
        follows = starts[1:] >= ends[:-1]
        firsts = runs[(runs > 0) & (runs < len(starts))]
        follows[firsts - 1] = True
        if not follows.all():
            return None
    return Masks(starts, lengths, runs, pixels)


def masks_from_cells(
    name: str, column: MaskColumn, cells: Cells, violations: FoundViolations
) -> Masks:
    """Decode cell by cell, and record the problems. Bad and absent cells become empty masks."""
    numbers: list[int] = []
    runs = np.zeros(len(cells) + 1, dtype=np.int64)
    for index, cell in enumerate(cells):
        if cell is not None:
            numbers += _runs(name, column, cell, index + 1, violations)
        runs[index + 1] = len(numbers) // 2
    pairs = np.array(numbers, dtype=np.int64)
    return Masks(
        np.ascontiguousarray(pairs[0::2]),
        np.ascontiguousarray(pairs[1::2]),
        runs,
        column.pixels or MOST_PIXELS,
    )


def _runs(
    name: str, column: MaskColumn, cell: str, row: int, violations: FoundViolations
) -> list[int]:
    """Starts (from 0) and lengths in turn."""
    if not column.allow_empty and (cell == column.empty or not cell.strip(" ")):
        violations.count(_MISSING, name, row, advice="no mask may be empty")
        return []
    if cell == column.empty:
        return []
    if column.empty and not cell.strip(" "):
        violations.count(_MISSING, name, row, advice=f"write {column.empty!r} for an empty mask")
        return []
    tokens = split_cell(cell, " ") or []
    numbers = [int(token) for token in tokens if is_whole(token)]
    problem = "" if len(numbers) == len(tokens) else "a token is not a whole number"
    problem = problem or _run_problem(column, numbers)
    if problem:
        advice = f"{problem}; write pairs of start and length joined by spaces, such as '1 3 10 5'"
        violations.count(_BAD_MASK, name, row, cell, advice)
        return []
    numbers[0::2] = [start - column.start for start in numbers[0::2]]
    return numbers


def _run_problem(column: MaskColumn, numbers: list[int]) -> str:
    if len(numbers) % 2:
        return "an odd number of tokens"
    end: int = column.start
    limit = (column.pixels or MOST_PIXELS) + column.start
    for start, length in zip(numbers[0::2], numbers[1::2], strict=True):
        if start < column.start:
            return f"a run starts before pixel {column.start}, the first"
        if length < 1:
            return "a run has no length"
        if start < end:
            return "runs overlap or are not in ascending order"
        end = start + length
        if end > limit:
            return f"a run ends past the last of {column.height} x {column.width} pixels"
    return ""


def check_ends(
    name: str, masks: Masks, pixels: IntArray, order: IntArray | None, violations: FoundViolations
) -> None:
    """Record the masks that end beyond their image; `pixels` has the size of each image."""
    ends = masks.starts + masks.lengths
    rows = np.unique(row_of_each(masks.offsets)[ends > pixels[row_of_each(masks.offsets)]])
    for row in rows.tolist():
        in_file = row if order is None else int(order[row])
        violations.count(
            _BAD_MASK, name, in_file + 1, advice=f"a run ends past the last of {pixels[row]} pixels"
        )
