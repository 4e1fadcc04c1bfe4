"""A picture: its data, title and caption."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from app.reports.document.report import NamedRows
from app.reports.document.tables import to_spreadsheet_csv

LINE = 100  # characters of a caption's line
LONGEST_TITLE = 120
# The columns of kinds that may have nothing to draw.
COLUMNS = {
    "medal-rates": ("experiment", "any_medal", "low", "high", "gold", "silver", "bronze"),
    "cost": ("experiment", "cost", "any_medal", "low", "high"),
    "heat-map": ("competition", "seed", "state"),
    "leaderboard": ("part", "place", "score", "line", "experiment"),
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of one kind. `caption` says what was counted, how sure it is, what is missing."""

    kind: str
    title: str
    caption: str
    values: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The data of the chart: the values, the title, and the lines of the caption."""
        title = textwrap.shorten(self.title, LONGEST_TITLE, placeholder=" …")
        if not title.strip(" …"):
            title = self.title[:LONGEST_TITLE]
        return {**self.values, "title": title, "lines": textwrap.wrap(self.caption, LINE)}

    def csv(self) -> bytes:
        r"""The drawn numbers as CSV. The column `part` distinguishes the board from attempts.

        A text that would be a formula begins with `'`, as in the CSV of pages.

        >>> Picture("cost", "", "", {"rows": [{"experiment": "a", "cost": 1.5}]}).csv()
        b'experiment,cost\na,1.5\n'
        """
        if self.kind == "leaderboard":
            parts = ("board", "medal_lines", "attempts")
            rows = [{"part": part, **row} for part in parts for row in self.values[part]]
            rows = [{name: row.get(name) for name in COLUMNS[self.kind]} for row in rows]
        elif self.kind == "comparison":
            named = {"a": self.values["a"], "b": self.values["b"], "rate": self.values["rate"]}
            rows = [
                {"competition": row["competition"], **named, "share_a": row["a"],
                 "share_b": row["b"]}
                for row in self.values["rows"]
            ]  # fmt: skip
        else:
            rows = self.values["rows"]
        return to_spreadsheet_csv(rows or NamedRows(COLUMNS.get(self.kind, ()), [])).encode()
