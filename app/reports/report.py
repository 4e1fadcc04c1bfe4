"""A result in the forms that HTTP and commands show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.reports.document.page import Page, to_markdown

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """A result: `document` for JSON, flat `rows` for CSV and Parquet, and a page for readers.

    The page is made on demand, because most clients ask for JSON.
    """

    document: Any
    rows: Sequence[Row]
    page: Callable[[], Page]

    def markdown(self) -> str:
        """The page as Markdown."""
        return to_markdown(self.page())
