"""A result as a page: tables with footnote letters at cells, and notes that all tables share."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import Any

CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # Markdown ends a line at "\r" too
TAG = re.compile(r"<(?=[A-Za-z/!?])")  # the start of a tag, a comment or an address in brackets
LINK = re.compile(r"\](?=[(:])")  # a link, and the address of what stands in brackets elsewhere
# Code, an entity and emphasis; an underscore within a word is none of these.
STYLE = re.compile(r"[*`]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~")
BLOCK = re.compile(r"^(\d*)(?=[#>+-]|(?<=\d)[.)])")  # a heading, a quotation or a list


@dataclass(frozen=True, slots=True)
class Marked:
    """A cell with footnotes: each different note gets a letter on the page."""

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; a cell is a `Marked`, or a value that is shown as it is written."""

    header: Sequence[Any]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Tables and notes."""

    tables: Sequence[Table]
    notes: Sequence[str]

    def letters(self) -> dict[str, str]:
        """The letter of each footnote, in the order of the cells."""
        cells = (cell for one in self.tables for line in (one.header, *one.rows) for cell in line)
        notes = (note for cell in cells if isinstance(cell, Marked) for note in cell.notes)
        return dict(zip(dict.fromkeys(notes), _letters(), strict=False))


def marks(cell: Any, letters: dict[str, str]) -> tuple[str, str]:
    """A cell's text and its letters, joined by commas.

    >>> marks(Marked("50.00", ("one is missing",)), {"one is missing": "a"}), marks(3, {})
    (('50.00', 'a'), ('3', ''))
    """
    if isinstance(cell, Marked):
        return cell.text, ",".join(letters[note] for note in cell.notes)
    return str(cell), ""


def to_markdown(page: ReportPage, origin: str = "") -> str:
    """The page as Markdown: tables, then a list of footnotes and notes, the origin last."""
    letters = page.letters()
    lines = [f"[{letter}] {as_written(note)}" for note, letter in letters.items()]
    # The origin contains names of experiments too, in its command.
    lines += map(_paragraph, [*page.notes, *([origin] if origin else [])])
    tables = [_markdown_table(one, letters) for one in page.tables]
    return "\n".join(tables) + ("\n" if lines else "") + _list(lines)


def _markdown_table(table: Table, letters: dict[str, str]) -> str:
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    return "".join(
        "| " + " | ".join(_markdown_cell(cell, letters) for cell in line) + " |\n" for line in lines
    )


def _markdown_cell(cell: Any, letters: dict[str, str]) -> str:
    text, letter = marks(cell, letters)
    text = as_written(text).replace("|", "\\|")
    return f"{text} [{letter}]" if letter else text


def as_written(text: str) -> str:
    r"""A text as Markdown on one line that shows each character literally.

    >>> as_written("<b>, p < 0.05, [0, 1], [a](b), an_agent, *x*")
    '\\<b>, p < 0.05, [0, 1], [a]\\(b), an_agent, \\*x\\*'
    """
    text = CONTROL.sub(" ", text).replace("\\", "\\\\")
    text = LINK.sub(r"]\\", TAG.sub(r"\\<", text))
    return STYLE.sub(r"\\\g<0>", text)


def _paragraph(text: str) -> str:
    r"""A text as written, that begins no heading, quotation or list.

    >>> _paragraph("# 1 of 3"), _paragraph("2. agent"), _paragraph("3 runs")
    ('\\# 1 of 3', '2\\. agent', '3 runs')
    """
    return BLOCK.sub(r"\1\\", as_written(text))


def _list(lines: Sequence[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _letters() -> Iterator[str]:
    """The letters a to z, then aa to zz, then aaa, because a large table has many notes."""
    for length in count(1):
        for word in product(string.ascii_lowercase, repeat=length):
            yield "".join(word)
