"""Public ids of rows."""

from __future__ import annotations

import secrets
import time


def new_id(prefix: str) -> str:
    """A new id: the prefix, the time in microseconds (14 hex digits), 48 random bits (12).

    Ids of one prefix sort by their time. One id does not help to guess another.

    >>> first, second = new_id("sub"), new_id("sub")
    >>> first.startswith("sub_"), len(first), first != second
    (True, 30, True)
    """
    return f"{first_id(prefix, time.time_ns() // 1000)}{secrets.token_hex(6)}"


def first_id(prefix: str, microseconds: int) -> str:
    """A text that sorts before all ids that were made at this time of the epoch or later.

    >>> first_id("sub", 0) < new_id("sub")
    True
    """
    return f"{prefix}_{max(0, microseconds):014x}"
