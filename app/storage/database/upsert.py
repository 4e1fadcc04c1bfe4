"""INSERT that skips existing rows, on both databases."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session


def insert_if_new(
    session: Session, table: Table, unique: tuple[str, ...], fields: dict[str, Any]
) -> bool:
    """Insert a row, unless one has its values in the `unique` columns. Returns whether it did."""
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
    return insert(table).on_conflict_do_nothing(index_elements=list(unique))
