"""Pages of a list: at most `limit` items, and the cursor of the next page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from app.errors import Invalid

Item = TypeVar("Item")
Cursor = TypeVar("Cursor")
MOST_DIGITS = 18  # a number with this many digits always fits into a column of integers


def one_more(limit: int | None) -> int | None:
    """The limit of a query that also shows whether a page is the last one. None: no limit."""
    return None if limit is None else limit + 1


def page_of(
    found: Sequence[Item], limit: int | None, cursor: Callable[[Item], Cursor]
) -> tuple[list[Item], Cursor | None]:
    """The first `limit` of the items that were found, and the cursor, None after the last page.

    `cursor` returns the cursor of the page after an item.

    >>> page_of(["a", "b", "c"], 2, str.upper), page_of(["a", "b"], 2, str.upper)
    ((['a', 'b'], 'B'), (['a', 'b'], None))
    >>> page_of(["a", "b"], None, str.upper)
    (['a', 'b'], None)
    """
    if limit is None or len(found) <= limit:
        return list(found), None
    return list(found[:limit]), cursor(found[limit - 1])


def wrong_cursor() -> Invalid:
    """The error for a cursor that is not from this list."""
    return Invalid("cursor: it is not the next_cursor of a page of this list.")


def cursor_number(cursor: str | None) -> int | None:
    """The number that a cursor is; None for the first page.

    Raises:
        Invalid: it is not a number.

    >>> cursor_number("7"), cursor_number(None)
    (7, None)
    """
    if cursor is None:
        return None
    if not cursor.isdecimal() or len(cursor) > MOST_DIGITS:
        raise wrong_cursor()
    return int(cursor)
