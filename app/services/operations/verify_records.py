"""Check the content of rows: values, receipts, the public log, signed grades."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from app.services.operations.verify_progress import Damage
from app.services.receipts.check_database import check_trust
from app.storage.database.database import Database
from app.storage.database.errors import is_damage
from app.storage.database.unreadable_values import (
    UNREADABLE,
    require_of_value,
    unreadable_values,
)

DATABASE, ROW, RECEIPT = "database", "row", "receipt"
CHANGED_RECORD = (
    "Somebody changed the database. Restore a backup from before (`podium restore`) into a new "
    "PODIUM_DATA_DIR and compare the two; do not go on with this one."
)


def changed_records(session: Session) -> Iterator[Damage]:
    """Values that cannot be read, and damage of receipts, log and signed grades."""
    unread = False
    for place, why in unreadable_values(session.connection()):
        unread = True
        yield Damage(ROW, place, f"its value cannot be read: {why}", [], CHANGED_RECORD)
    try:
        trust = list(check_trust(session))
    except UNREADABLE as error:
        if not unread:
            raise
        require_of_value(error)
        trust = [("receipts and log", "they were not checked: they need what cannot be read")]
    for name, why in trust:
        yield Damage(RECEIPT, name, why, [], CHANGED_RECORD)


def damaged_page(database: Database, error: DatabaseError) -> Damage:
    """The damage of a page that PostgreSQL found when it read it; it does not check all pages.

    Raises:
        DatabaseError: the error is another one.
    """
    if not is_damage(error):
        raise error
    reason = " ".join(str(error.orig).split())
    return Damage(
        DATABASE,
        database.url.render_as_string(hide_password=True),
        f"It is damaged: {reason}. What comes after this was not compared.",
        [],
        "Restore a backup (`podium restore`) into another database and a new PODIUM_DATA_DIR.",
    )
