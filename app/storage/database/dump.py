"""Read a complete database for a backup, and repair a restored one."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Table,
    func,
    inspect,
    select,
    text,
    union,
    update,
)

from app.domain.states import SubmissionState
from app.storage.database.jsonl import IN_PARTS
from app.storage.database.models import Base, Submission, VersionFile
from app.storage.database.tables.operation import LOGINS, SIGNED_URLS, Secret

# Tables without lasting data: commit marks of processes, uploads that were not submitted (clients
# send them again), and ended logins (no login is valid after a restore).
EXCLUDED_TABLES = frozenset({"write_receipt", "held_upload", "ended_login"})
NOT_OURS = EXCLUDED_TABLES | {"alembic_version"}
QUEUE = "procrastinate_"  # begins the names of tables of the queue's library
SIGNING_KEY = "signing-key "  # begins the names of secrets that are private parts of signing keys
SECRET = Secret.__table__
SUBMISSION = Submission.__table__
VERSION_FILE = VersionFile.__table__
# Each file that a row refers to, once, sorted by digest.
REFERENCED_FILES = union(
    select(SUBMISSION.c.sha256, SUBMISSION.c.bytes),
    select(VERSION_FILE.c.sha256, VERSION_FILE.c.bytes),
).order_by("sha256")
IS_GRADING = SUBMISSION.c.state == SubmissionState.GRADING
REQUEUE = (
    update(SUBMISSION)
    .where(IS_GRADING)
    .values(
        state=SubmissionState.QUEUED,
        attempts=SUBMISSION.c.attempts - 1,
        claimed_by=None,
        claimed_at=None,
    )
)


def backup_tables() -> list[Table]:
    """The tables of a backup, each after the tables that it refers to."""
    return [each for each in Base.metadata.sorted_tables if each.name not in EXCLUDED_TABLES]


def columns_of_tables(connection: Connection) -> dict[str, set[str]]:
    """The names of the columns of each table that a backup of this database has."""
    found = inspect(connection).get_multi_columns()
    return {
        name: {each["name"] for each in columns}
        for (_, name), columns in found.items()
        if name not in NOT_OURS and not name.startswith(QUEUE)
    }


def left_out(source: Table, *, signing_keys: bool) -> ColumnElement[bool] | None:
    """The condition on rows that a backup leaves out; None if it has all rows of the table.

    A backup has no secret that signs logins or addresses, because a reader of the backup could log
    in as an admin with it. Without `signing_keys` it has no private part of a key that signs
    receipts either, because a reader could sign in Podium's name with it.
    """
    if source is not SECRET:
        return None
    of_logins = SECRET.c.name.in_((LOGINS, SIGNED_URLS))
    return of_logins if signing_keys else of_logins | SECRET.c.name.startswith(SIGNING_KEY)


def referenced_files(connection: Connection) -> Iterator[tuple[str, int]]:
    """Digest and size in bytes of every file that a row refers to, sorted by digest."""
    for row in connection.execute(REFERENCED_FILES, execution_options=IN_PARTS):
        yield row.sha256, row.bytes


def count_referenced_files(connection: Connection) -> int:
    """How many files `referenced_files` yields."""
    query = select(func.count()).select_from(REFERENCED_FILES.order_by(None).subquery())
    return int(connection.execute(query).scalar_one())


def tables_with_rows(connection: Connection) -> list[str]:
    """The names of Podium's tables that exist and have a row."""
    existing = set(inspect(connection).get_table_names())
    return [
        each.name
        for each in Base.metadata.sorted_tables
        if each.name in existing
        and connection.execute(select(text("1")).select_from(each).limit(1)).first() is not None
    ]


def requeue_unfinished(connection: Connection) -> int:
    """Queue the submissions that were being graded. The interrupted attempt does not count."""
    return connection.execute(REQUEUE).rowcount


def reset_sequences(connection: Connection) -> None:
    """Set PostgreSQL's sequences to the highest number of each table."""
    if connection.dialect.name != "postgresql":
        return  # SQLite finds the highest number itself
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
