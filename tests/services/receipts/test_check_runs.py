"""Runs that are not as signed are found, and those that were changed with a new receipt are not."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import ColumnElement, Table, delete, update

from app.domain.feedback import Feedback
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts.check_runs import final_problems
from app.services.regrades.apply import apply
from app.services.runtime.context import Context
from app.storage.database.models import Disclosure, Run, Submission
from app.storage.database.records import RunRecord
from app.storage.database.tables.regrades import Regrade
from app.storage.queries import exposure
from app.storage.queries.trust import receipts
from tests.services.public_log.test_issue import closed_run
from tests.services.regrades.test_apply import regraded
from tests.storage.make import NOON

RUN = Run.__table__


def change(context: Context, table: Table, **to: Any) -> None:
    """Change all rows of a table behind Podium's back."""
    context.database.write(lambda session: session.execute(update(table).values(to)))


def remove(context: Context, table: Table, *which: ColumnElement[bool]) -> None:
    context.database.write(lambda session: session.execute(delete(table).where(*which)))


def final(context: Context, run: RunRecord, *, at: int = -1) -> list[str]:
    """What is wrong with a receipt of a run."""
    with context.database.read() as session:
        return list(final_problems(session, receipts.of_run(session, run.id)[at]))


@pytest.mark.parametrize(
    ("to", "problem"),
    [
        ({"seed": 9}, "has another seed than was signed"),
        ({"feedback": Feedback.FULL, "seed": 9}, "has another seed, policy than was signed"),
    ],
)
def test_a_run_that_is_not_as_signed_is_named(
    context: Context, to: dict[str, Any], problem: str
) -> None:
    run = closed_run(context)
    issue_for_run(context, run.id)
    assert final(context, run) == []

    change(context, RUN, **to)
    assert final(context, run) == [f"its run {run.id} {problem}: its row was changed"]


def test_a_final_submission_that_is_not_the_signed_one_is_named(context: Context) -> None:
    run = closed_run(context)
    receipt, _ = issue_for_run(context, run.id)

    change(context, Submission.__table__, state="rejected")
    (problem,) = final(context, run)
    assert f"no graded submission, and the graded submission {receipt.submission_id}" in problem


def test_a_disclosure_that_was_removed_is_missed_and_a_later_one_is_not(context: Context) -> None:
    run = closed_run(context)
    given = {"submission_id": None, "grade_id": None}
    context.database.write(
        lambda s: exposure.record(s, run.id, "harness_validation", **given, at=NOON)
    )
    issue_for_run(context, run.id)
    context.database.write(
        lambda s: exposure.record(s, run.id, "validation", **given, at=exposure.moment(s, run.id))
    )
    assert final(context, run) == []

    kinds = Disclosure.__table__.c.kind
    remove(context, Disclosure.__table__, kinds == "harness_validation")
    (problem,) = final(context, run)
    assert "has fewer harness_validations in its exposure ledger than was signed" in problem


def test_only_the_last_receipt_is_compared_and_a_newer_regrade_is_awaited(
    context: Context,
) -> None:
    run = closed_run(context)
    issue_for_run(context, run.id)
    regrade = regraded(context, 0.75)
    apply(context, regrade.id, reason="mended", by=None)
    assert final(context, run) == []
    issue_for_run(context, run.id)
    assert [final(context, run, at=at) for at in (0, 1)] == [[], []]

    change(context, Regrade.__table__, state="ready", applied_at=None)
    assert final(context, run, at=0) == []
    (problem,) = final(context, run)
    assert f"the first grade, and the grade of the regrade {regrade.id} was signed" in problem
    change(context, RUN, seed=9)
    assert final(context, run, at=0) == []
