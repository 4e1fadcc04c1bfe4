"""Convert rows to records, and records to the values of an INSERT; inserts that skip rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeVar

from sqlalchemy import Row, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session


class Record(Protocol):
    """A frozen dataclass with the same fields as its table's columns, in the same order."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


RecordType = TypeVar("RecordType", bound=Record)


def one(kind: type[RecordType], row: Row[Any] | None) -> RecordType | None:
    """The record of a row, or None if there is no row."""
    return None if row is None else record(kind, row)


def record(kind: type[RecordType], row: Sequence[Any]) -> RecordType:
    """The record of a row, from the columns of its table."""
    return kind(**dict(zip(kind.__dataclass_fields__, row, strict=True)))


def values(instance: Record) -> dict[str, Any]:
    """A record's fields by name, not copied."""
    return {name: getattr(instance, name) for name in instance.__dataclass_fields__}


def insert_if_new(
    session: Session, table: Table, unique: tuple[str, ...], fields: dict[str, Any]
) -> bool:
    """Insert a row, unless one has its values in the `unique` columns. Returns whether it did.

    Without columns, the row is not inserted if any unique index of the table forbids it.
    """
    statement = _statement(session.get_bind().dialect.name, table, unique)
    return session.execute(statement.returning(*table.primary_key), fields).first() is not None


def insert_all_if_new(
    session: Session, table: Table, unique: tuple[str, ...], rows: list[dict[str, Any]]
) -> None:
    """Insert rows, except those whose values in the `unique` columns exist already."""
    if rows:
        session.execute(_statement(session.get_bind().dialect.name, table, unique), rows)


@lru_cache
def _statement(dialect: str, table: Table, unique: tuple[str, ...]) -> Any:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing(index_elements=list(unique) or None)
