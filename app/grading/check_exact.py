"""The exact check: reads every cell as text, and finds and counts every problem."""

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
from app.grading.reading.violations import FoundViolations, ViolationKind
from app.grading.schema import PROBABILITY_SUM_TOLERANCE, Schema

RowsToSkip = Callable[[dict[str, Cells]], Sequence[int]]

_ROW_NOUN = {True: "id", False: "row"}
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
    """Check and decode a file cell by cell.

    `rows_to_skip` gets the columns and returns the rows (from 0) whose values are not checked.

    Raises:
        Rejection: the file is invalid; it lists every problem.
    """
    text = decode_text(data)
    violations = FoundViolations()
    # A bound on time and memory: a file may have a billion short rows.
    most_lines = 2 * (optional or ids).rows + 10_000
    is_too_long = '"' not in text and text.count("\n") + text.count("\r") > 2 * most_lines
    table = read_text_table(
        text,
        schema.form.id,
        tuple(schema.form.columns),
        violations,
        most_lines=0 if is_too_long else most_lines,
        keep_unknown=keep_unknown,
        aliases=aliases,
    )
    if table is None:
        raise Rejection(violations.violations, violations.notices)
    if is_too_long:
        table.lines = most_lines
    if schema.form.unknown_columns == "refuse" and table.header.unknown and not keep_unknown:
        unknown = [name for name in table.header.unknown if name]
        violations.add(
            ViolationCode.BAD_FORMAT,
            "there are columns of no class: keep the columns of the sample submission",
            examples=unknown,
        )
    order = _check_rows(schema, ids, table, violations, optional)
    if rows_to_skip is not None:
        skipped = rows_to_skip(table.columns)
        for cells in (table.columns.get(name, []) for name in schema.form.columns):
            for row in skipped if cells else ():
                cells[row] = None
    decoded = _decode(schema, table, violations)
    if violations or order is None:
        raise Rejection(violations.violations, violations.notices)
    texts = {
        name: pa.chunked_array([pa.array(cells, pa.string())])
        for name, cells in table.columns.items()
        if schema.is_raw(name)
    }
    return CheckedFile(schema, ids, decoded.take(order), tuple(violations.notices), texts, order)


def _check_rows(
    schema: Schema,
    ids: PublicIds,
    table: TextTable,
    violations: FoundViolations,
    optional: PublicIds | None,
) -> IntArray | None:
    """Compare the number of rows and the ids. Returns the order of rows; None on any problem."""
    is_complete = not table.is_cut and not table.is_broken
    may_differ = schema.form.optional_ids and not table.is_cut and table.rows > 0
    if not may_differ and (table.is_cut or (is_complete and table.rows != ids.rows)):
        found = f"more than {table.lines} lines" if table.is_cut else str(table.rows)
        # Not the number of answers: where ids are optional, that is private.
        count = (optional or ids).rows
        expected = "1 row" if count == 1 else f"{count} rows"
        violations.add(
            ViolationCode.ROW_COUNT,
            f"expected {expected}, one for every {_ROW_NOUN[bool(schema.form.id)]} of the sample "
            f"submission, found {found if table.rows or table.is_cut else 'only a header'}",
        )
    if table.rows == 0 or not all(name in table.columns for name in schema.form.id):
        return None
    if not schema.form.id:
        return None if table.rows != ids.rows else np.arange(ids.rows, dtype=np.int64)
    cells = [table.columns[name] for name in schema.form.id]
    # The validation has no answers, so any missing id may be an optional one.
    may_miss = schema.form.optional_ids and optional is None
    return check_ids(
        schema.form.id,
        cells,
        ids,
        violations,
        is_complete=is_complete and not may_miss,
        optional=optional,
    )


def _decode(schema: Schema, table: TextTable, violations: FoundViolations) -> Decoded:
    numbers = np.full((table.rows, len(schema.bounds)), np.nan, order="F")
    others: dict[str, Values] = {}
    index = 0
    for name, column in schema.form.columns.items():
        cells = table.columns.get(name)
        if isinstance(column, NumberLike):
            if cells is not None:
                numbers[:, index] = numbers_from_cells(name, column, cells, violations)
            index += 1
        elif cells is not None:
            others[name] = from_cells(name, column, cells, violations)
    if schema.summed:
        _check_sums(schema, numbers, violations)
    return Decoded(numbers, others)


def _check_sums(schema: Schema, numbers: FloatArray, violations: FoundViolations) -> None:
    """Report rows that do not sum to one, and divide the probabilities of the others by their sum.

    A row with an invalid probability is not summed: that probability is reported already.
    """
    sums = schema.row_sums(numbers)
    for row in np.flatnonzero(~np.isnan(sums) & ~schema.sums_to_one(sums)).tolist():
        advice = (
            f"they sum to {sums[row]:.6g}; divide each by the sum of its row "
            f"(a difference of {PROBABILITY_SUM_TOLERANCE:g} is allowed)"
        )
        violations.count(_BAD_SUM, None, row + 1, advice=advice)
    if not violations:
        schema.divide_by_sums(numbers, sums)
