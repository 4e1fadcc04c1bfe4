"""A report's page for LaTeX (with the package booktabs)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from app.reports.document.origin import origin_of
from app.reports.document.page import Marked, Table, marks
from app.reports.document.report import Report

_NUMBER = re.compile(r"^[-+]?[0-9.]*( ± [0-9.]+)?( %)?$|^not known$")
LIGATURES = re.compile(r"[-,'`?!](?=[-,'`])")  # two of them print as one other character
ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
}  # fmt: skip


def escape(text: str) -> str:
    r"""A text as LaTeX prints it: one line, with its special characters escaped.

    >>> escape("50 % of a_b & {c} ± 1.52")
    '50 \\% of a\\_b \\& \\{c\\} $\\pm$ 1.52'
    >>> escape("a--b ,,c")
    'a-{}-b ,{},c'
    """
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
    return LIGATURES.sub(r"\g<0>{}", "".join(ESCAPES.get(each, each) for each in line))


def to_latex(report: Report, query: str) -> str:
    """The report's page as tabulars and notes, with its origin as a comment in the last line."""
    page = report.page()
    letters = page.letters()
    lines: list[str] = []
    for table in page.tables:
        lines += [f"\\begin{{tabular}}{{{_columns(table)}}}", r"\toprule"]
        lines += [_row(table.header, letters), r"\midrule"]
        lines += [_row(row, letters) for row in table.rows]
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    for note, letter in letters.items():
        lines.append(f"{{\\footnotesize\\textsuperscript{{{letter}}} {escape(note)}\\par}}")
    lines += [f"{{\\footnotesize {escape(note)}\\par}}" for note in page.notes]
    lines.append(f"% {origin_of(report, query).line()}")
    return "\n".join(lines) + "\n"


def _columns(table: Table) -> str:
    """Align words to the left, numbers to the right."""
    found = ""
    for column in zip(*table.rows, strict=True):
        texts = [cell.text if isinstance(cell, Marked) else str(cell) for cell in column]
        found += "r" if all(_NUMBER.match(text) for text in texts) else "l"
    return found or "l" * len(table.header)


def _row(cells: Sequence[Any], letters: dict[str, str]) -> str:
    row = " & ".join(_cell(cell, letters) for cell in cells)
    # After the end of the last row, LaTeX would read these as its argument.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def _cell(cell: Any, letters: dict[str, str]) -> str:
    text, letter = marks(cell, letters)
    return escape(text) + (f"\\textsuperscript{{{letter}}}" if letter else "")
