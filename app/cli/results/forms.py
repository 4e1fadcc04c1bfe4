"""Print results in the form that the options name."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from app.cli.output import json_text, out, visible
from app.cli.results.options import Form
from app.cli.results.terminal_page import TerminalPage
from app.cli.results.written_file import write_file
from app.errors import Invalid
from app.reports.document.latex import to_latex
from app.reports.document.origin import Origin, csv_metadata, origin_of
from app.reports.document.page import to_markdown
from app.reports.document.report import Report
from app.reports.document.tables import to_csv, to_parquet

# They say where a result is written and who asked, but nothing about its content.
LEFT_OUT = ("--out", "--parquet", "--key")


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
        Invalid: two different forms are named, a file cannot be written, or Parquet would go to a
            terminal.
    """
    named = {form} if form else set()
    named |= {Form.JSON} if as_json else set()
    named |= {Form.CSV} if csv else set()
    if len(named) > 1:
        raise Invalid(f"Name one form, not {' and '.join(sorted(named))}.")
    chosen = named.pop() if named else None
    if parquet is not None:
        data = to_parquet(shown.rows, _origin(shown).line())
        write_file("--parquet", parquet, data)
    if chosen is None and to is None and out.is_terminal:
        out.print(TerminalPage(visible(shown.markdown())), crop=False)
    elif chosen is Form.PARQUET:
        _write_bytes(to_parquet(shown.chosen_rows(), _origin(shown).line()), to)
    else:
        _write_text(_text(shown, chosen or Form.MARKDOWN), to)
        if chosen is Form.CSV and to is not None:
            beside = to.with_name(f"{to.name}-metadata.json")
            _write_text(json_text(csv_metadata(to.name, _origin(shown))) + "\n", beside)


def _text(shown: Report, form: Form) -> str:
    if form is Form.LATEX:
        return to_latex(shown, _query())
    if form is Form.CSV:
        return to_csv(shown.chosen_rows())
    if form is Form.JSON:
        document = shown.whole_document()
        if isinstance(document, dict):  # `podium results` gives a list
            document = {**document, "origin": asdict(_origin(shown))}
        return json_text(document) + "\n"
    return to_markdown(shown.page(), _origin(shown).line())


def _origin(shown: Report) -> Origin:
    return origin_of(shown, _query())


def _query() -> str:
    return f"podium {shlex.join(words_of_query(sys.argv[1:]))}"


def words_of_query(words: Sequence[str]) -> list[str]:
    """A command without the options that say where its result is written, and without a key.

    >>> words = ["report", "a", "--out", "x.tex", "--suite=s", "--key", "pod_run_x"]
    >>> words_of_query(words)
    ['report', 'a', '--suite=s']
    """
    found: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":  # what follows is not an option
            return [*found, word, *left]
        if word in LEFT_OUT:
            next(left, None)
        elif not word.startswith(tuple(f"{option}=" for option in LEFT_OUT)):
            found.append(word)
    return found


def _write_text(text: str, to: Path | None) -> None:
    if to is None:
        sys.stdout.write(visible(text) if out.is_terminal else text)
        sys.stdout.flush()  # a full disk is reported here, not only when the process ends
    else:
        write_file("--out", to, text.encode())


def _write_bytes(data: bytes, to: Path | None) -> None:
    if to is not None:
        write_file("--out", to, data)
    elif sys.stdout.isatty():
        raise Invalid("Parquet is not for a terminal: name a file with --out.")
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
