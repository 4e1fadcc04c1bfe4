"""Flat rows as CSV and Parquet, and values as cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from app.reports.document.report import NamedRows, Row, columns_of

# The positions where a spreadsheet may see a formula: the start of a text, and after a character
# that it may interpret as the end of a cell, such as `;` in many languages. Agents and other
# strangers write most texts of tables. A `'` is inserted at each such position, even if there is
# one already, so that the text can be restored by removing one from each.
FORMULA = re.compile(r"""\A(?='*[\t\r\n])|(\A|[;\t\r\n]"*)(?='*[=+\-@＝＋－＠])""")

QUESTIONS = ("these competitions, run again: 95 %", "competitions like these: 95 %")


def to_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV, unrounded; null is an empty cell, a time is written by RFC 3339."""
    text = _Lines()
    # With lines that end in "\n", Python before 3.13 does not quote a text with "\r", and readers
    # would take it for the end of the row.
    writer = csv.DictWriter(text, columns_of(rows), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _csv_cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


class _Lines(io.StringIO):
    """The target of a CSV writer: gets one row at a time, and ends it with a line feed."""

    def write(self, row: str) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def to_spreadsheet_csv(rows: Sequence[Row]) -> str:
    r"""Rows as CSV for a person who opens the file in a spreadsheet: no text is a formula.

    >>> to_spreadsheet_csv([{"experiment": "=1+1;=2", "rate": -1.5}])
    "experiment,rate\n'=1+1;'=2,-1.5\n"
    """
    return to_csv(NamedRows(columns_of(rows), map(_without_formulas, rows)))


def to_parquet(rows: Sequence[Row], origin: str = "") -> bytes:
    """Rows as a Parquet file; the origin is the key `podium` of its metadata."""
    # Loading these takes 0.3 s and 40 MB, which most servers and commands never need.
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    if rows:
        table = pa.Table.from_pylist([dict(row) for row in rows])
    else:
        table = pa.table({name: pa.nulls(0) for name in columns_of(rows)})
    if origin:
        table = table.replace_schema_metadata({"podium": origin})
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _csv_cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _without_formulas(row: Row) -> Row:
    return {
        name: FORMULA.sub(r"\1'", value) if isinstance(value, str) else value
        for name, value in row.items()
    }


def cell(value: Any) -> str:
    """A value as a cell of a table: six significant digits of a float, nothing for null.

    >>> cell(0.123456789), cell(None), cell(3)
    ('0.123457', '', '3')
    """
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def interval_cell(interval: tuple[float, float] | None, digits: int = 2) -> str:
    """An interval as a cell: `low to high`, or "not known".

    >>> interval_cell((1.0, 2.5)), interval_cell(None)
    ('1.00 to 2.50', 'not known')
    """
    if interval is None:
        return "not known"
    return f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"


class TwoIntervals(Protocol):
    """A number with an interval for each of the two questions."""

    @property
    def runs95(self) -> tuple[float, float] | None:
        """For these competitions, run again."""

    @property
    def competitions95(self) -> tuple[float, float] | None:
        """For competitions like these."""


def interval_cells(one: TwoIntervals, digits: int = 2) -> tuple[str, str]:
    """Both intervals as cells of the columns `QUESTIONS`."""
    return interval_cell(one.runs95, digits), interval_cell(one.competitions95, digits)


def p_cell(p: float | None) -> str:
    """A p value as a cell.

    >>> p_cell(0.0423), p_cell(0.00001), p_cell(None)
    ('p = 0.042', 'p < 0.001', 'p not known')
    """
    if p is None:
        return "p not known"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
