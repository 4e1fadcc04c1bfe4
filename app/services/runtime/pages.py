"""Pages of a list: at most `limit` items, and the cursor of the next page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def one_more(limit: int | None) -> int | None:
    """The limit of a query that also finds out whether a page is the last one. None: no limit."""
    return None if limit is None else limit + 1


def page_of(
    found: Sequence[Item], limit: int | None, cursor: Callable[[Item], str]
) -> tuple[list[Item], str | None]:
    """The first `limit` of the items that were found, and the cursor, None after the last page.

    `cursor` gives that of the page after an item.

    >>> page_of(["a", "b", "c"], 2, str.upper), page_of(["a", "b"], 2, str.upper)
    ((['a', 'b'], 'B'), (['a', 'b'], None))
    >>> page_of(["a", "b"], None, str.upper)
    (['a', 'b'], None)
    """
    if limit is None or len(found) <= limit:
        return list(found), None
    return list(found[:limit]), cursor(found[limit - 1])
