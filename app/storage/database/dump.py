"""All of a database at once: what a backup reads of it, and what a restored one needs."""

from __future__ import annotations

from collections.abc import Iterator

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Integer, Table, func, inspect, select, text, union, update

from app.domain.states import SubmissionState
from app.storage.database.jsonl import ROWS_PER_INSERT
from app.storage.database.models import Base, Submission, VersionFile

# What a process notes for itself, and files that were sent and never submitted: an agent's client
# sends those again.
LEFT_OUT = frozenset({"write_receipt", "held_upload"})
SUBMISSION = Submission.__table__
VERSION_FILE = VersionFile.__table__
# Each file that a row names, once, in the order of digests.
FILES = union(
    select(SUBMISSION.c.sha256, SUBMISSION.c.bytes),
    select(VERSION_FILE.c.sha256, VERSION_FILE.c.bytes),
).order_by("sha256")
WAS_GRADING = SUBMISSION.c.state == SubmissionState.GRADING
QUEUE_AGAIN = (
    update(SUBMISSION)
    .where(WAS_GRADING)
    .values(
        state=SubmissionState.QUEUED,
        attempts=SUBMISSION.c.attempts - 1,
        claimed_by=None,
        claimed_at=None,
    )
)


def kept_tables() -> list[Table]:
    """The tables whose rows a backup keeps, each after those that it refers to."""
    return [each for each in Base.metadata.sorted_tables if each.name not in LEFT_OUT]


def revision(connection: Connection) -> str:
    """The revision of the schema; "" where no migration was made."""
    return MigrationContext.configure(connection).get_current_revision() or ""


def named_files(connection: Connection) -> Iterator[tuple[str, int]]:
    """Digest and bytes of every file that a row names, by digest."""
    for row in connection.execute(FILES.execution_options(yield_per=ROWS_PER_INSERT)):
        yield row.sha256, row.bytes


def tables_with_rows(connection: Connection) -> list[str]:
    """Which of our tables, as far as they are there, hold a row."""
    there = set(inspect(connection).get_table_names())
    return [
        each.name
        for each in Base.metadata.sorted_tables
        if each.name in there
        and connection.execute(select(text("1")).select_from(each).limit(1)).first() is not None
    ]


def requeue_unfinished(connection: Connection) -> int:
    """Queue what somebody was grading; the attempt was cut short and does not count."""
    return connection.execute(QUEUE_AGAIN).rowcount


def reset_sequences(connection: Connection) -> None:
    """Let PostgreSQL number new rows after those that came with their numbers."""
    if connection.dialect.name != "postgresql":
        return  # SQLite looks for the highest itself
    for each in Base.metadata.sorted_tables:
        key, *more = each.primary_key
        if more or not isinstance(key.type, Integer):
            continue
        sequence = connection.execute(
            select(func.pg_get_serial_sequence(each.name, key.name))
        ).scalar_one()
        highest = connection.execute(select(func.max(key))).scalar_one()
        if sequence is not None and highest is not None:
            connection.execute(select(func.setval(sequence, highest)))
