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
    return f"{prefix}_{time.time_ns() // 1000:014x}{secrets.token_hex(6)}"
