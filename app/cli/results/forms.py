"""The forms in which commands print results: `--format`, and the older options for some of them."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from app.cli.output import json_text, out, print_json
from app.errors import Invalid
from app.reports.document.latex import to_latex
from app.reports.document.origin import origin
from app.reports.document.page import to_markdown
from app.reports.report import Report
from app.reports.tables import to_csv, to_parquet


class Form(StrEnum):
    """How a result is written."""

    LATEX = "latex"
    MARKDOWN = "markdown"
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


FormOption = Annotated[
    Form | None,
    typer.Option(
        "--format",
        help="how the result is written; latex and markdown end with its origin; without: tables "
        "in a terminal, else markdown",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="write it to this file")]
Csv = Annotated[bool, typer.Option("--csv", help="the same as --format csv: unrounded rows")]
Parquet = Annotated[
    Path | None, typer.Option(help="write the rows also to this file, as Parquet")
]  # fmt: skip


def print_report(
    shown: Report,
    *,
    form: Form | None = None,
    to: Path | None = None,
    as_json: bool = False,
    csv: bool = False,
    parquet: Path | None = None,
) -> None:
    """Write a report in the form that the options name, on standard output or into a file.

    Raises:
        Invalid: two different forms are named, or Parquet would go to a terminal.
    """
    named = {form} if form else set()
    named |= {Form.JSON} if as_json else set()
    named |= {Form.CSV} if csv else set()
    if len(named) > 1:
        raise Invalid(f"Name one form, not {' and '.join(sorted(named))}.")
    chosen = named.pop() if named else None
    if parquet is not None:
        parquet.write_bytes(to_parquet(shown.rows))
    if chosen is None and to is None and out.is_terminal:
        out.print(Markdown(shown.markdown()))
    elif chosen is Form.JSON and to is None:
        print_json(shown.document)
    elif chosen is Form.PARQUET:
        _write_bytes(to_parquet(shown.rows, origin(shown, _query())), to)
    else:
        _write_text(_text(shown, chosen or Form.MARKDOWN), to)


def _text(shown: Report, form: Form) -> str:
    if form is Form.LATEX:
        return to_latex(shown, _query())
    if form is Form.CSV:
        return to_csv(shown.rows)
    if form is Form.JSON:
        return json_text(shown.document) + "\n"
    return to_markdown(shown.page(), origin(shown, _query()))


def _query() -> str:
    return f"podium {shlex.join(sys.argv[1:])}"


def _write_text(text: str, to: Path | None) -> None:
    if to is None:
        sys.stdout.write(text)
    else:
        to.write_text(text, "utf-8")


def _write_bytes(data: bytes, to: Path | None) -> None:
    if to is not None:
        to.write_bytes(data)
    elif sys.stdout.isatty():
        raise Invalid("Parquet is not for a terminal: name a file with --out.")
    else:
        sys.stdout.buffer.write(data)
