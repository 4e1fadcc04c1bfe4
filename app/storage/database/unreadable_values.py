"""Find values that cannot be read, because they were not written by Podium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, Executable, Table, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from app.storage.database.dump import backup_tables
from app.storage.database.errors import is_damage, may_pass
from app.storage.database.jsonl import IN_PARTS

# Errors of the readers of column types, and of drivers, such as for a text that is not UTF-8 or a
# time in a year that Python does not have.
UNREADABLE = (ValueError, TypeError, LookupError, RecursionError, DBAPIError)


def unreadable_values(connection: Connection) -> Iterator[tuple[str, str]]:
    """Each value that is not the JSON, time or state of its column: where it is, and why.

    Raises:
        DBAPIError: the database is away, or its file is damaged.
    """
    for table in backup_tables():
        if _why_unreadable(connection, select(table)) is not None:
            for column in table.columns:
                yield from _in_column(connection, table, column)


def require_of_value(error: BaseException) -> None:
    """Raise an error that is not about a value, because the database is away, full or damaged."""
    if may_pass(error) or is_damage(error):
        raise error


def _in_column(
    connection: Connection, table: Table, column: Column[Any]
) -> Iterator[tuple[str, str]]:
    """The unreadable values of a column. Its rows are read one by one only if it has some."""
    if _why_unreadable(connection, select(column)) is None:
        return
    keys = [type_coerce(key, NullType()).label(key.name) for key in table.primary_key]
    why = _why_unreadable(connection, select(*keys))
    if why is not None:  # then no row can be named
        yield f"table {table.name}, column {column.name}", why
        return
    for row in connection.execute(select(*keys)).all():
        parts = list(zip(keys, row, strict=True))
        of_row = [key == part for key, part in parts]
        why = _why_unreadable(connection, select(column).where(*of_row))
        if why is not None:
            place = ", ".join(f"{key.name} {part}" for key, part in parts)
            yield f"table {table.name}, {place}, column {column.name}", why


def _why_unreadable(connection: Connection, query: Executable) -> str | None:
    """The reason why a value of the query cannot be read; None if all can."""
    try:
        with connection.execute(query, execution_options=IN_PARTS) as rows:
            for _ in rows:
                pass
    except UNREADABLE as error:
        require_of_value(error)
        return str(error.orig if isinstance(error, DBAPIError) else error)
    return None
