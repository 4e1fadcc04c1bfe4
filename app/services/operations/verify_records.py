"""Check what the rows themselves say: values, receipts, the public log, signed grades."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.services.operations.verify_progress import Damage
from app.services.receipts.check_database import check_trust
from app.storage.database.unreadable_values import (
    UNREADABLE,
    require_of_value,
    unreadable_values,
)

CHANGED_RECORD = (
    "Somebody changed the database. Restore a backup from before (`podium restore`) into a new "
    "PODIUM_DATA_DIR and compare the two; do not go on with this one."
)


def changed_records(session: Session) -> list[Damage]:
    """Values that cannot be read, and what is wrong with receipts, log and signed grades."""
    unread = list(unreadable_values(session.connection()))
    found = [
        Damage("row", place, f"its value cannot be read: {why}", [], CHANGED_RECORD)
        for place, why in unread
    ]
    try:
        trust = list(check_trust(session))
    except UNREADABLE as error:
        if not unread:
            raise
        require_of_value(error)
        trust = [("receipts and log", "they were not checked: they need what cannot be read")]
    return found + [Damage("receipt", name, why, [], CHANGED_RECORD) for name, why in trust]
