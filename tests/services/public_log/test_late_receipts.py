"""Receipts that are issued some time after the close of their runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.domain.states import RunState
from app.receipts.statements import read_statement
from app.services.public_log import run_receipts
from app.services.public_log.run_receipts import issue_for_run, issue_late
from app.services.receipts.check_database import check_trust
from app.services.regrades.apply import apply
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries.regrades import regrades
from app.storage.queries.trust import receipts
from tests.services.public_log.test_issue import closed_run
from tests.services.regrades.test_apply import regraded
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import NOON, add_run, add_version


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


def test_a_regrade_that_was_applied_days_ago_without_a_server_has_its_receipts(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = closed_run(context)
    first, _ = issue_for_run(context, run.id)
    regrade = regraded(context, 0.75)
    apply(context, regrade.id, reason="mended", by=None)
    monkeypatch.setattr(run_receipts, "LATELY", timedelta(0))  # as long after it

    assert issue_late(context) == 0
    assert issue_late(context, looks_at_all=True) == 1
    with context.database.read() as session:
        last = receipts.last_of_run(session, run.id)
    assert last is not None
    assert (last.supersedes, read_statement(last.data)["predicate"]["score"]) == (first.id, "0.75")
    assert issue_late(context, looks_at_all=True) == 0


def test_a_run_whose_grade_came_days_ago_without_a_server_has_its_receipt(
    context: Context,
) -> None:
    run = closed_run(context, closed_at=NOON - timedelta(hours=1))  # the grade came at noon

    assert issue_late(context) == 0
    assert issue_late(context, looks_at_all=True) == 1
    with context.database.read() as session:
        assert receipts.last_of_run(session, run.id) is not None
    assert issue_late(context, looks_at_all=True) == 0


def test_a_regrade_that_somebody_took_back_in_the_database_is_named(context: Context) -> None:
    """Results counted the first grade again, and nothing compared that with the receipt."""
    closed_run(context)
    regrade = regraded(context, 0.75)
    apply(context, regrade.id, reason="mended", by=None)
    assert issue_late(context) == 1

    def found() -> list[str]:
        with context.database.read() as session:
            return [problem for _, problem in check_trust(session)]

    assert found() == []
    context.database.write(
        lambda session: regrades.change(session, regrade.id, state="ready", applied_at=None)
    )
    [problem] = found()
    assert f"the first grade, and the grade of the regrade {regrade.id} was signed" in problem
