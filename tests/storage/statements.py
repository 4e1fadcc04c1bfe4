"""The statements that this process sends to its databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from app.storage.database.database import Database


@contextmanager
def each_statement(note: Callable[[str], None]) -> Iterator[None]:
    """Call `note` with each statement of the block, in the thread that sends it."""

    def executed(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        note(statement)

    event.listen(Engine, "before_cursor_execute", executed)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", executed)


@contextmanager
def sent_statements() -> Iterator[list[str]]:
    """The statements of the block, as they are sent."""
    sent: list[str] = []
    with each_statement(sent.append):
        yield sent


def sqlite_plan(
    database: Database, read: Callable[[Session], object], *, statements: int = 1
) -> list[str]:
    """The steps by which SQLite answers the last of so many statements that `read` sends."""
    sent: list[tuple[str, Any]] = []
    with database.read() as session:
        connection = session.connection()
        event.listen(
            connection, "before_cursor_execute", lambda *given: sent.append((given[2], given[3]))
        )
        read(session)
        assert len(sent) == statements
        statement, given = sent[-1]
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given).all()
    return [row.detail for row in plan]
