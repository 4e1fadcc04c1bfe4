"""Find a row that refers to a missing row, with the same message for both databases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, column, exists, inspect, select, table, text
from sqlalchemy.exc import IntegrityError

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table that refer to a row of another; `key` are the table's own key columns."""

    name: str | None
    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    other_table: str
    other_columns: tuple[str, ...]

    def broken_by(self, row: dict[str, Any]) -> str:
        """The sentence about a row, by the values of its columns.

        >>> about = ForeignKey("fk", "grade", ("id",), ("run_id",), "run", ("id",))
        >>> about.broken_by({"id": 7, "run_id": "r1"})
        "the row of grade with id '7' refers by run_id to 'r1', and run has no row with that id"
        """
        values = ", ".join(repr(str(row[name])) for name in self.columns)
        return (
            f"the row of {self.table} with {_named(self.key, row)} refers by "
            f"{', '.join(self.columns)} to {values}, and {self.other_table} has no row with that "
            f"{', '.join(self.other_columns)}"
        )


def foreign_keys(connection: Connection) -> list[ForeignKey]:
    """The foreign keys of all tables."""
    inspector = inspect(connection)
    keys = inspector.get_multi_pk_constraint()
    return [
        ForeignKey(
            each["name"],
            name,
            tuple(keys[schema, name]["constrained_columns"]),
            tuple(each["constrained_columns"]),
            each["referred_table"],
            tuple(each["referred_columns"]),
        )
        for (schema, name), found in inspector.get_multi_foreign_keys().items()
        for each in found
    ]


def first_broken(connection: Connection, keys: list[ForeignKey]) -> str | None:
    """The problem of the first row that refers to a missing row; None if there is none."""
    for each in keys:
        names = dict.fromkeys((*each.key, *each.columns))
        own = table(each.table, *(column(name) for name in names)).alias("own")
        other = table(each.other_table, *(column(name) for name in each.other_columns)).alias(
            "other"
        )
        pairs = zip(each.columns, each.other_columns, strict=True)
        there = exists().where(and_(*(own.c[mine] == other.c[its] for mine, its in pairs)))
        # As in the databases, a row with a null column refers to nothing.
        refers = and_(*(own.c[name].is_not(None) for name in each.columns))
        row = connection.execute(select(own).where(refers, ~there).limit(1)).mappings().first()
        if row is not None:
            return each.broken_by(dict(row))
    return None


def broken_reference(connection: Connection, *, without: frozenset[str] = NONE) -> str | None:
    """The problem of a row that refers to a missing row, for example one deleted by hand.

    The tables `without` are left out. In PostgreSQL there are no such rows, because it enforces
    foreign keys for everybody; SQLite does so only for clients that ask for it.
    """
    if connection.dialect.name != "sqlite":
        return None
    broken = connection.execute(text("PRAGMA foreign_key_check"))
    if all(row.table in without for row in broken):
        return None
    return first_broken(
        connection, [key for key in foreign_keys(connection) if key.table not in without]
    )


def refused_row(
    error: BaseException, keys: list[ForeignKey], rows: Iterable[dict[str, Any]]
) -> str | None:
    """The problem of the row, among `rows`, that PostgreSQL refused for its missing reference.

    None if it was refused for another reason. SQLite does not say which key a refused row violates,
    and enforces none while a backup is restored.
    """
    refusal = getattr(error.orig, "diag", None) if isinstance(error, IntegrityError) else None
    if refusal is None:
        return None
    for each in keys:
        if (each.table, each.name) != (refusal.table_name, refusal.constraint_name):
            continue
        for row in rows:
            values = ", ".join(str(row[name]) for name in each.columns)
            # The detail has this in every language of PostgreSQL's messages.
            if f"({', '.join(each.columns)})=({values})" in (refusal.message_detail or ""):
                return each.broken_by(row)
    return None


def _named(columns: tuple[str, ...], row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {str(row[name])!r}" for name in columns)
