"""A result in the forms that HTTP and commands show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from app.errors import Invalid
from app.reports.document.page import ReportPage, to_markdown

Row = Mapping[str, Any]


class NamedRows(list[Row]):
    """Rows with the names of their columns, which exist even without rows.

    Raises:
        ValueError: the first row has other columns.
    """

    def __init__(self, names: Sequence[str], rows: Iterable[Row]) -> None:
        super().__init__(rows)
        self.names = list(names)
        if self and list(self[0]) != self.names:
            raise ValueError(f"rows with columns {list(self[0])} are named {self.names}")


class RowsOnDemand(Sequence[Row]):
    """Rows that are made when they are first used, because most clients ask for JSON."""

    def __init__(self, make: Callable[[], list[Row]]) -> None:
        self._make = make

    @property
    def names(self) -> list[str]:
        """The names of their columns."""
        return columns_of(self._rows)

    @cached_property
    def _rows(self) -> list[Row]:
        return self._make()

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        return self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The names of the columns of rows; without rows, those that the table was given."""
    if isinstance(rows, NamedRows | RowsOnDemand):
        return rows.names
    return list(rows[0]) if rows else []


@dataclass(frozen=True, slots=True)
class Report:
    """A result: `document` for JSON, flat `rows` for CSV and Parquet, and a page for readers.

    The page is made on demand, because most clients ask for JSON. `columns` are the names of the
    requested columns of the page, whose table is made with them, or of the rows; if empty, all.
    """

    document: Any
    rows: Sequence[Row]
    page: Callable[[], ReportPage]
    columns: tuple[str, ...] = ()

    def chosen_rows(self) -> Sequence[Row]:
        """The rows with the requested columns, in that order.

        Raises:
            Invalid: the rows have no such column.
        """
        known = columns_of(self.rows)
        if not self.columns or not known:
            return self.rows
        names = split_names(self.columns, set(known))
        for name in names:
            if name not in known:
                raise Invalid(
                    f"columns: there is no column {name!r}; there are {', '.join(known)}."
                )
        return NamedRows(names, [{name: row[name] for name in names} for row in self.rows])

    def whole_document(self) -> Any:
        """The document.

        Raises:
            Invalid: columns were asked for, which JSON does not have.
        """
        if self.columns:
            raise Invalid("columns: JSON has none to choose. Ask for Markdown, CSV or Parquet.")
        return self.document

    def markdown(self) -> str:
        """The page as Markdown."""
        return to_markdown(self.page())


def split_names(values: Sequence[str], known: set[str]) -> list[str]:
    """The names of columns: each value is a name, or several with commas between them.

    >>> split_names(["a,b", "c"], {"a"})
    ['a', 'b', 'c']

    Raises:
        Invalid: no column is named.
    """
    found = []
    for value in values:
        parts = [value] if value in known else value.split(",")
        found += [part.strip() for part in parts if part.strip()]
    if not found:
        raise Invalid("columns: name at least one column.")
    return list(dict.fromkeys(found))


def ends(name: str, interval: tuple[float, float] | None) -> dict[str, float | None]:
    """An interval as two columns.

    >>> ends("ci95", (1.0, 2.0))
    {'ci95_low': 1.0, 'ci95_high': 2.0}
    """
    low, high = interval or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
