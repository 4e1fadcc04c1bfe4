"""Find the values that cannot be read, because somebody else than Podium wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from app.storage.database.dump import backup_tables
from app.storage.database.errors import is_damage, may_pass
from app.storage.database.jsonl import IN_PARTS

# What the readers of column types raise, and drivers: of a text that is not UTF-8, or a time of a
# year that Python does not have.
UNREADABLE = (ValueError, TypeError, LookupError, RecursionError, DBAPIError)


def unreadable_values(connection: Connection) -> Iterator[tuple[str, str]]:
    """Each value that is not the JSON, time or state that its column holds: its place, and why.

    Raises:
        DBAPIError: the database is away, or its file is damaged.
    """
    for table in backup_tables():
        try:
            _read_all(connection, select(table))
        except UNREADABLE as error:
            require_of_value(error)
            for column in table.columns:
                yield from _in_column(connection, table, column)


def require_of_value(error: BaseException) -> None:
    """Raise an error that is not of a value: the database is away, full or damaged."""
    if may_pass(error) or is_damage(error):
        raise error


def _read_all(connection: Connection, query: Select[Any]) -> None:
    with connection.execute(query, execution_options=IN_PARTS) as rows:
        for _ in rows:
            pass


def _in_column(
    connection: Connection, table: Table, column: Column[Any]
) -> Iterator[tuple[str, str]]:
    """The unreadable values of a column. Its rows are read one by one only if some are."""
    try:
        _read_all(connection, select(column))
    except UNREADABLE as error:
        require_of_value(error)
    else:
        return
    keys = list(table.primary_key)
    as_stored = select(*(type_coerce(key, NullType()) for key in keys))
    try:
        rows = connection.execute(as_stored).all()
    except UNREADABLE as error:
        require_of_value(error)
        yield f"table {table.name}, column {column.name}", _reason(error)
        return
    for row in rows:
        parts = list(zip(keys, row, strict=True))
        of_row = [type_coerce(key, NullType()) == part for key, part in parts]
        try:
            connection.execute(select(column).where(*of_row)).all()
        except UNREADABLE as error:
            require_of_value(error)
            place = ", ".join(f"{key.name} {part}" for key, part in parts)
            yield f"table {table.name}, {place}, column {column.name}", _reason(error)


def _reason(error: BaseException) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error)
