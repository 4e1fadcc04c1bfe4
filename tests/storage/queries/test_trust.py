"""Receipts and the log are read in parts, also by PostgreSQL's driver, which would read all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from app.receipts.statements import ReceiptKind
from app.storage.database.database import Database
from app.storage.database.jsonl import ROWS_PER_INSERT
from app.storage.database.tables.receipts import LogCheckpoint, LogEntry, Receipt
from app.storage.queries.trust import log, receipts
from tests.storage.statements import sqlite_plan

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
NUMBER = 2 * ROWS_PER_INSERT + 1
CURSORS = text("SELECT count(*) FROM pg_cursors")
ENTRY = {"kind": "receipt", "leaf": "{}", "record": None, "at": AT}
RECEIPT = {
    "kind": ReceiptKind.FREEZE, "experiment": "e", "run_id": None, "submission_id": None,
    "facts": "", "statement": "{}", "signature": "", "envelope_signature": "", "key_id": "sig_1",
    "supersedes": None, "created_at": AT,
}  # fmt: skip


def fill(session: Session) -> None:
    # Rows that refer to nothing: the queries look at no other table.
    session.execute(text("SET LOCAL session_replication_role = replica"))
    numbers = range(NUMBER)
    session.execute(insert(LogEntry.__table__), [{"number": n, **ENTRY} for n in numbers])
    session.execute(
        insert(LogCheckpoint.__table__),
        [{"size": n + 1, "note": "", "key_id": "sig_1"} for n in numbers],
    )
    session.execute(
        insert(Receipt.__table__),
        [{"id": f"rcp_{n:05d}", "number": n, **RECEIPT} for n in numbers],
    )


@pytest.mark.parametrize("database_kind", ["postgresql"])
@pytest.mark.parametrize(
    "read",
    [
        log.all_entries,
        log.all_checkpoints,
        lambda session: log.numbers_of(session, "receipt"),
        receipts.all_receipts,
    ],
    ids=["entries", "checkpoints", "numbers", "receipts"],
)
def test_postgresql_sends_the_rows_in_parts(
    database: Database, read: Callable[[Session], Iterator[Any]]
) -> None:
    database.write(fill)
    with database.read() as session:
        rows = read(session)
        next(rows)
        assert session.execute(CURSORS).scalar_one() == 1
        assert sum(1 for _ in rows) == NUMBER - 1
        assert session.execute(CURSORS).scalar_one() == 0


@pytest.mark.parametrize("database_kind", ["sqlite"])
@pytest.mark.parametrize(
    "read",
    [
        lambda session: receipts.of_experiment(session, "e", kind=None, after=7, limit=5),
        lambda session: receipts.of_experiment(
            session, "e", kind=ReceiptKind.GRADE, after=7, limit=5
        ),
        lambda session: receipts.replaced_among(session, ["rcp_1", "rcp_2"]),
    ],
    ids=["page", "page of a kind", "superseded"],
)
def test_a_page_of_receipts_is_found_by_an_index(
    database: Database, read: Callable[[Session], object]
) -> None:
    """All receipts were read for it, and all of the experiment sorted."""
    plan = sqlite_plan(database, read)

    assert ["SEARCH receipt USING" in step for step in plan] == [True]
