"""Values that Podium did not write are found in each table, on both databases."""

from __future__ import annotations

from sqlalchemy import text

from app.storage.database.database import Database
from app.storage.database.unreadable_values import unreadable_values
from tests.storage.database.test_jsonl import ROWS, fill


def test_what_cannot_be_read_is_named_and_nothing_else(database: Database) -> None:
    def found() -> list[tuple[str, str]]:
        with database.read() as session:
            return list(unreadable_values(session.connection()))

    database.write(lambda session: fill(session.connection()))
    before = found()
    database.write(lambda session: session.execute(text("UPDATE run SET state = 'odd'")) and None)
    after = found()

    assert before == []
    assert len(after) == ROWS
    place, why = after[0]
    assert place == "table run, id k0, column state"
    assert "odd" in why
