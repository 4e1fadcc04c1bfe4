"""Public ids of rows."""

from __future__ import annotations

import re
import secrets
import threading
import time

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.errors import DamagedRow
from app.storage.database.models import ApiKey, Run, Submission
from app.storage.database.tables.receipts import Receipt, SigningKey
from app.storage.database.tables.regrades import Regrade

NAMED = (Submission, Run, ApiKey, Receipt, SigningKey, Regrade)  # tables whose rows have such ids
TIME_DIGITS = 14
PATTERN = re.compile(r"[a-z]+_([0-9a-f]{14})[0-9a-f]{12}")
FARTHEST = 0xFF << 48  # microseconds, in the year 4245; only a manipulated database has later ids
_lock = threading.Lock()
_latest = 0  # the time of the latest id


def new_id(prefix: str) -> str:
    """A new id: the prefix, the time in microseconds (14 hex digits), 48 random bits (12).

    Ids of one prefix sort in the order in which they were made, even if the clock was set back. One
    id does not help to guess another.

    >>> first, second = new_id("sub"), new_id("sub")
    >>> first.startswith("sub_"), len(first), first != second
    (True, 30, True)
    """
    global _latest  # noqa: PLW0603 - an id knows the one before it
    with _lock:
        _latest = max(time.time_ns() // 1000, _latest + 1)
        return f"{first_id(prefix, _latest)}{secrets.token_hex(6)}"


def continue_ids(session: Session) -> None:
    """Make all new ids of this process sort after those in the database.

    Another process made those, and its clock may have been ahead of the present one.

    Raises:
        DamagedRow: an id is no text. One bit in a file of SQLite makes bytes of a text.
    """
    global _latest  # noqa: PLW0603
    for model in NAMED:
        column = model.__table__.c.id
        known = session.execute(select(func.max(column))).scalar()
        if not isinstance(known, str | None):
            raise DamagedRow(f"an id in the table {model.__tablename__} is no text")
        found = PATTERN.fullmatch(known or "")
        if found is not None and (microseconds := int(found[1], 16)) < FARTHEST:
            with _lock:
                _latest = max(_latest, microseconds)


def first_id(prefix: str, microseconds: int) -> str:
    """A text that sorts before all ids that were made at this time of the epoch or later.

    >>> first_id("sub", 0) < new_id("sub")
    True
    """
    return f"{prefix}_{max(0, microseconds):0{TIME_DIGITS}x}"
