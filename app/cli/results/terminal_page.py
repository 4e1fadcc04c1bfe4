"""Markdown for a terminal. No cell of a table is cut, however narrow the terminal is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.table import Table
from rich.text import Text

GAP = 2  # columns of the terminal that Rich puts between two columns of a table
BORDER = "markdown.table.border"

Cells = Sequence[Sequence[Text]]


class WholeTable(TableElement):
    """A table that breaks lines of cells between words only.

    Rich's own ends long words with an ellipsis, so that two competitions can look the same.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, laid out for this width."""
        header = [self.header.row] if self.header and self.header.row else []
        rows = self.body.rows if self.body else []
        cells = [[one.content for one in row.cells] for row in (*header, *rows)]
        for heading in cells[0]:
            heading.stylize("markdown.table.header")
        lines, widths = laid_out(cells, options.max_width)
        width = max(options.max_width, sum(widths) + GAP * len(widths))
        yield from console.render(_table(lines, widths), options.update(width=width))


class TerminalPage(Markdown):
    """Markdown with tables that are not cut. Print it with `crop=False`."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "table_open": WholeTable,
    }


def laid_out(cells: Cells, width: int) -> tuple[Cells, list[int]]:
    """The cells by line, and the width of each column, for a terminal of this width.

    The first line is the header. If a word would have to be cut, the columns become the lines; if
    that does not fit either, the table is wider than the terminal.
    """
    turned = list(zip(*cells, strict=True))
    for one in (cells, turned):
        if widths := fitting_widths(one, width):
            return one, widths
    return cells, [max(map(_length, column)) for column in turned]


def fitting_widths(cells: Cells, width: int) -> list[int] | None:
    """The width of each column if the table fits without a cut word; otherwise None."""
    columns = list(zip(*cells, strict=True))
    room = width - GAP * len(columns)
    longest = [max(map(_length, column)) for column in columns]
    widths = [max(map(_longest_word, column)) for column in columns]
    if sum(widths) > room:
        return None
    spare = room - sum(widths)
    # Columns that need little get it first: one long text has more lines, and all others have one.
    for at in sorted(range(len(columns)), key=lambda at: longest[at] - widths[at]):
        more = min(longest[at] - widths[at], spare)
        widths[at] += more
        spare -= more
    return widths


def _table(cells: Cells, widths: list[int]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True, style=BORDER)
    for heading, width in zip(cells[0], widths, strict=True):
        table.add_column(heading, width=width)
    for line in cells[1:]:
        table.add_row(*line)
    return table


def _length(cell: Text) -> int:
    return max(1, cell_len(cell.plain))


def _longest_word(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split()), default=1)
