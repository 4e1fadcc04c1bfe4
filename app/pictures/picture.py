"""What is drawn: the data of a picture with its title and caption."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

LINE = 110  # characters of a caption's line
LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of one kind. `caption` says what was counted, how sure it is, what is missing."""

    kind: str
    title: str
    caption: str
    values: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """What the chart is drawn from: the values, the title, and the caption in lines."""
        title = textwrap.shorten(self.title, LONGEST_TITLE, placeholder=" …")
        if not title.strip(" …"):
            title = self.title[:LONGEST_TITLE]
        return {**self.values, "title": title, "lines": textwrap.wrap(self.caption, LINE)}
