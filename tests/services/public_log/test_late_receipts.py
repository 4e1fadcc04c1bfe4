"""Receipts that are issued some time after the close of their runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import text
from sqlalchemy.orm import Session

from app.domain.states import RunState
from app.services.public_log.run_receipts import issue_late
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries.trust import receipts
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_run, add_version


def test_a_run_that_cannot_be_read_keeps_no_other_from_its_receipt(context: Context) -> None:
    version = context.database.write(lambda session: add_version(session, "bikes", toml=TOML))
    now = datetime.now(UTC)
    runs: list[RunRecord] = [
        add_run(
            context.database, version, f"experiment-{number}",
            state=RunState.CLOSED, closed_at=now - timedelta(minutes=number),
        )
        for number in range(3)
    ]  # fmt: skip

    def damage(session: Session) -> None:
        session.execute(text("PRAGMA ignore_check_constraints = ON"))
        session.execute(
            text("UPDATE run SET feedback = 'nonsense' WHERE id = :id"), {"id": runs[0].id}
        )

    context.database.write(damage)

    assert issue_late(context) == 2
    with context.database.read() as session:
        issued = [receipts.last_of_run(session, run.id) is not None for run in runs]
    assert issued == [False, True, True]
