"""Whether a commit reached the database although its answer was lost.

A connection that breaks during COMMIT leaves it open whether the work was done. Doing it again
could store a submission twice or claim a second one and forget the first. So each group of writes
changes its writer's row in `write_receipt` to the group's number in the same transaction, and
after a broken COMMIT that row is asked.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.storage.database.models import WriteReceipt

TABLE = WriteReceipt.__table__
INSERT = insert(TABLE)
STAMP = INSERT.on_conflict_do_update(
    index_elements=[TABLE.c.writer],
    set_={"number": INSERT.excluded.number, "at": INSERT.excluded.at},
)
OF_WRITER = TABLE.c.writer == bindparam("of")
# FOR UPDATE waits for a COMMIT that the server is still working on.
ASK = select(TABLE.c.number).where(OF_WRITER).with_for_update()
LEAVE = delete(TABLE).where(OF_WRITER)


def stamp(session: Session, writer: str, number: int) -> None:
    """Note in a group's own transaction that this is group `number`.

    A writer commits its number 0 before its first group: a row that is not committed yet could
    not be waited for.
    """
    session.execute(STAMP, {"writer": writer, "number": number, "at": datetime.now(UTC)})


def was_committed(session: Session, writer: str, number: int) -> bool:
    """Whether group `number` was committed. Later groups must not have begun."""
    return session.execute(ASK, {"of": writer}).scalar_one_or_none() == number


def remove(session: Session, writer: str) -> None:
    """Remove the row of a writer that ends."""
    session.execute(LEAVE, {"of": writer})
