"""Find the values that cannot be read, because somebody else than Podium wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import JSON, Column, Connection, Table, select, type_coerce
from sqlalchemy.types import NullType

from app.storage.database.dump import backup_tables
from app.storage.database.jsonl import IN_PARTS

# What the readers of column types raise.
UNREADABLE = (ValueError, TypeError, LookupError, RecursionError)


def unreadable_values(connection: Connection) -> Iterator[tuple[str, str]]:
    """Each value that is not the JSON, time or state that its column holds: its place, and why."""
    for table in backup_tables():
        try:
            with connection.execute(select(table), execution_options=IN_PARTS) as rows:
                for _ in rows:
                    pass
        except UNREADABLE:
            for column in table.columns:
                yield from _in_column(connection, table, column)


def _in_column(
    connection: Connection, table: Table, column: Column[object]
) -> Iterator[tuple[str, str]]:
    dialect = connection.dialect
    read = column.type.dialect_impl(dialect).result_processor(dialect, None)
    # PostgreSQL has no value of the type JSON that is none, and its driver reads them.
    if read is None or (isinstance(column.type, JSON) and dialect.name == "postgresql"):
        return
    keys = list(table.primary_key)
    as_stored = select(*(type_coerce(each, NullType()) for each in (*keys, column)))
    for *key, value in connection.execute(as_stored, execution_options=IN_PARTS):
        try:
            read(value)
        except UNREADABLE as error:
            row = ", ".join(f"{each.name} {part}" for each, part in zip(keys, key, strict=True))
            yield f"table {table.name}, {row}, column {column.name}", str(error)
