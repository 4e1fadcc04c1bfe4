"""The exact check: every cell read as text, everything that is wrong found and counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from app.domain.verdict import Rejection, ViolationCode
from app.grading.check_ids import check_ids
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import Decoded, Values, from_cells
from app.grading.columns.numbers import FloatArray, NumberLike, numbers_from_cells
from app.grading.ids.public_ids import IntArray, PublicIds
from app.grading.reading.text_table import Cells, TextTable, read_text_table
from app.grading.reading.utf8 import decode_text
from app.grading.schema import PROBABILITY_SUM_TOLERANCE, Schema
from app.grading.violations import FoundViolations, ViolationKind

RowsToSkip = Callable[[dict[str, Cells]], Sequence[int]]

_WHAT = {True: "id", False: "row"}
_BAD_SUM = ViolationKind(
    ViolationCode.PROBABILITIES_DO_NOT_SUM_TO_ONE,
    "row has probabilities that do not sum to one",
    "rows have probabilities that do not sum to one",
)


def check_exactly(
    schema: Schema,
    ids: PublicIds,
    data: bytes,
    *,
    keep_unknown: bool = False,
    rows_to_skip: RowsToSkip | None = None,
    aliases: Mapping[str, str] | None = None,
    optional: PublicIds | None = None,
) -> CheckedFile:
    """Check and decode a file, looking at every cell.

    `rows_to_skip` may name rows (from 0), by all columns read, whose values are not looked at.

    Raises:
        Rejection: with every problem of the file.
    """
    text = decode_text(data)
    violations = FoundViolations()
    sheet = read_text_table(
        text,
        schema.form.id,
        tuple(schema.form.columns),
        violations,
        # Enough to tell what is wrong; a file of a billion short rows must not fill the memory.
        most_rows=2 * (optional or ids).rows + 10_000,
        keep_unknown=keep_unknown,
        aliases=aliases,
    )
    if sheet is None:
        raise Rejection(violations.violations, violations.notices)
    if schema.form.unknown_columns == "refuse" and sheet.header.unknown and not keep_unknown:
        unknown = [name for name in sheet.header.unknown if name]
        violations.add(
            ViolationCode.BAD_FORMAT,
            "there are columns of no class: keep the columns of the sample submission",
            examples=unknown,
        )
    order = _check_rows(schema, ids, sheet, violations, optional)
    if rows_to_skip is not None:
        skipped = rows_to_skip(sheet.columns)
        for cells in (sheet.columns.get(name, []) for name in schema.form.columns):
            for row in skipped if cells else ():
                cells[row] = None
    decoded = _decode(schema, sheet, violations)
    if violations or order is None:
        raise Rejection(violations.violations, violations.notices)
    texts = {
        name: pa.chunked_array([pa.array(cells, pa.string())])
        for name, cells in sheet.columns.items()
        if schema.is_raw(name)
    }
    return CheckedFile(schema, ids, decoded.take(order), tuple(violations.notices), texts, order)


def _check_rows(
    schema: Schema,
    ids: PublicIds,
    sheet: TextTable,
    violations: FoundViolations,
    optional: PublicIds | None,
) -> IntArray | None:
    """Compare the number of rows and the ids; the order of rows if all is well."""
    is_whole = not sheet.is_cut and not sheet.is_broken
    may_differ = schema.form.optional_ids and not sheet.is_cut and sheet.rows > 0
    if not may_differ and (sheet.is_cut or (is_whole and sheet.rows != ids.rows)):
        found = f"more than {sheet.rows}" if sheet.is_cut else str(sheet.rows)
        expected = "1 row" if ids.rows == 1 else f"{ids.rows} rows"
        violations.add(
            ViolationCode.ROW_COUNT,
            f"expected {expected}, one for every {_WHAT[bool(schema.form.id)]} of the sample "
            f"submission, found {found if sheet.rows else 'only a header'}",
        )
    if sheet.rows == 0 or not all(name in sheet.columns for name in schema.form.id):
        return None
    if not schema.form.id:
        return None if sheet.rows != ids.rows else np.arange(ids.rows, dtype=np.int64)
    cells = [sheet.columns[name] for name in schema.form.id]
    # Without answers in reach, an id that is not there may be one that need not be.
    may_miss = schema.form.optional_ids and optional is None
    return check_ids(
        schema.form.id,
        cells,
        ids,
        violations,
        is_whole=is_whole and not may_miss,
        optional=optional,
    )


def _decode(schema: Schema, sheet: TextTable, violations: FoundViolations) -> Decoded:
    numbers = np.full((sheet.rows, len(schema.bounds)), np.nan, order="F")
    others: dict[str, Values] = {}
    place = 0
    for name, column in schema.form.columns.items():
        cells = sheet.columns.get(name)
        if isinstance(column, NumberLike):
            if cells is not None:
                numbers[:, place] = numbers_from_cells(name, column, cells, violations)
            place += 1
        elif cells is not None:
            others[name] = from_cells(name, column, cells, violations)
    if schema.summed:
        _check_sums(schema, numbers, violations)
    return Decoded(numbers, others)


def _check_sums(schema: Schema, numbers: FloatArray, violations: FoundViolations) -> None:
    """Only rows whose probabilities are all good are summed; bad ones are reported as such."""
    known = ~np.isnan(numbers[:, schema.summed]).any(axis=1)
    for row in np.flatnonzero(known & ~schema.sums_to_one(numbers)).tolist():
        total = float(numbers[row, schema.summed].sum())
        advice = (
            f"they sum to {total:.6g}; divide each by the sum of its row "
            f"(a difference of {PROBABILITY_SUM_TOLERANCE:g} is allowed)"
        )
        violations.count(_BAD_SUM, None, row + 1, advice=advice)
