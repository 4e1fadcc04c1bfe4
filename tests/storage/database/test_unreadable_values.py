"""Values that Podium did not write are found in each table, on both databases."""

from __future__ import annotations

from sqlalchemy import text

from app.storage.database.database import Database
from app.storage.database.unreadable_values import unreadable_values
from tests.storage.database.test_jsonl import ROWS, fill


def found(database: Database) -> list[tuple[str, str]]:
    with database.read() as session:
        return list(unreadable_values(session.connection()))


def test_what_cannot_be_read_is_named_and_nothing_else(database: Database) -> None:
    database.write(lambda session: fill(session.connection()))
    before = found(database)
    database.write(lambda session: session.execute(text("UPDATE run SET state = 'odd'")) and None)
    after = found(database)

    assert before == []
    assert len(after) == ROWS
    place, why = after[0]
    assert place == "table run, id k0, column state"
    assert "odd" in why


def test_what_the_driver_cannot_read_is_named(database: Database, database_kind: str) -> None:
    """A text that is not UTF-8, or a time beyond those of Python."""
    is_sqlite = database_kind == "sqlite"
    column, value = (
        ("agent", "CAST(x'61ff62' AS TEXT)") if is_sqlite else ("created_at", "'infinity'")
    )
    change = text(f"UPDATE experiment SET {column} = {value} WHERE name = 'k1'")
    database.write(lambda session: fill(session.connection()))
    database.write(lambda session: session.execute(change) and None)

    [(place, _)] = found(database)

    assert place == f"table experiment, name k1, column {column}"
