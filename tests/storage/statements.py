"""The statements that this process sends to its databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


@contextmanager
def sent_statements() -> Iterator[list[str]]:
    """The statements of the block, as they are sent."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)
