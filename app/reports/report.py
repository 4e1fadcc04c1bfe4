"""A result in the forms that HTTP and commands show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """A result: `document` for JSON, flat `rows` for CSV and Parquet, and its Markdown.

    The Markdown is written on demand, because most clients ask for JSON.
    """

    document: Any
    rows: Sequence[Row]
    markdown: Callable[[], str]
