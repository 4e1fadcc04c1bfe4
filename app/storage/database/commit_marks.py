"""Marks of commits: whether a commit reached the database although its answer was lost.

If a connection breaks during COMMIT, the client cannot tell whether the work was done. Repeating it
could store a submission twice, or claim a second one and forget the first. So each group of writes
sets its writer's row in `write_receipt` to the group's number in the same transaction, and after a
broken COMMIT the writer reads that row.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.storage.database.tables.operation import WriteMark

TABLE = WriteMark.__table__
INSERT = insert(TABLE)
STAMP = INSERT.on_conflict_do_update(
    index_elements=[TABLE.c.writer],
    set_={"number": INSERT.excluded.number, "at": INSERT.excluded.at},
)
OF_WRITER = TABLE.c.writer == bindparam("of")
# FOR UPDATE waits for a COMMIT that is still in progress on the server.
READ_NUMBER = select(TABLE.c.number).where(OF_WRITER).with_for_update()
REMOVE = delete(TABLE).where(OF_WRITER)


def stamp(session: Session, writer: str, number: int) -> None:
    """Record the group's number in the group's own transaction.

    A writer commits number 0 before its first group, because nobody can wait for a row that was
    never committed.
    """
    session.execute(STAMP, {"writer": writer, "number": number, "at": datetime.now(UTC)})


def was_committed(session: Session, writer: str, number: int) -> bool:
    """Whether group `number` was committed. Later groups must not have begun."""
    return session.execute(READ_NUMBER, {"of": writer}).scalar_one_or_none() == number


def remove(session: Session, writer: str) -> None:
    """Remove the row of a writer that ends."""
    session.execute(REMOVE, {"of": writer})
