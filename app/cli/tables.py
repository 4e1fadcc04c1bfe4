"""Tables of commands: plain columns, so that nothing is cut and ids can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import typer
from rich.cells import cell_len

from app.cli.output import out, print_note

GAP = "  "


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> None:
    """Print rows under a header on standard output; `empty` if there are none.

    A line is as long as its cells. Columns are never cut or wrapped, in a terminal and in a file.
    """
    if not rows:
        print_note(empty)
        return
    lines = [[str(cell) for cell in header], *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        padded = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)
        )
        text = GAP.join(padded).rstrip()
        typer.echo(typer.style(text, bold=True) if number == 0 and out.is_terminal else text)  # noqa: TID251


def moment(value: datetime | str | None) -> str:
    """A time of a record or of JSON as a cell, in UTC to the minute; empty for null.

    >>> moment("2026-03-01T12:00:00.5Z"), moment(None)
    ('2026-03-01 12:00', '')
    """
    if value is None:
        return ""
    return str(value).replace("T", " ")[:16]


def _text(value: Any) -> str:
    """A value as a cell of one line: six significant digits of a float, empty for null.

    >>> _text(0.123456789), _text(None), _text(True), _text(1200)
    ('0.123457', '', 'yes', '1200')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return "".join(letter if letter.isprintable() else " " for letter in text)
