"""Rows that were changed without the log are found, and those that were changed by it are not."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import ColumnElement, Table, delete, update

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, ReviewDecision
from app.services.experiments.archiving import archive, restore
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts import keys
from app.services.receipts.check_rows import check_acts, check_keys, final_problems
from app.services.regrades.apply import apply
from app.services.reviews.decide import decide
from app.services.runtime.context import Context
from app.storage.database.models import Disclosure, Run, Submission
from app.storage.database.records import RunRecord
from app.storage.database.tables.acts import Archival
from app.storage.database.tables.receipts import SigningKey
from app.storage.database.tables.regrades import Regrade
from app.storage.database.tables.reviews import RunReview
from app.storage.queries import exposure
from app.storage.queries.trust import receipts, signing_keys
from app.storage.queries.trust.signing_keys import SigningKeyRecord
from tests.services.public_log.test_issue import closed_run
from tests.services.regrades.test_apply import regraded
from tests.storage.make import NOON, World

RUN, KEY = Run.__table__, SigningKey.__table__


def change(context: Context, table: Table, **to: Any) -> None:
    """Change all rows of a table behind Podium's back."""
    context.database.write(lambda session: session.execute(update(table).values(to)))


def remove(context: Context, table: Table, *which: ColumnElement[bool]) -> None:
    context.database.write(lambda session: session.execute(delete(table).where(*which)))


def final(context: Context, run: RunRecord, *, at: int = -1) -> list[str]:
    """What is wrong with a receipt of a run."""
    with context.database.read() as session:
        return list(final_problems(session, receipts.of_run(session, run.id)[at]))


def acts(context: Context) -> list[tuple[str, str]]:
    with context.database.read() as session:
        return list(check_acts(session))


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
    assert "has fewer harness_validations than was signed" in problem


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


def test_an_exclusion_without_the_log_is_named_and_so_is_its_removal(
    context: Context, here: World
) -> None:
    decide(context, here.run.id, ReviewDecision.EXCLUDE, "copied", by=None)
    decide(context, here.other_run.id, ReviewDecision.EXCLUDE, "copied", by=None)
    decide(context, here.other_run.id, ReviewDecision.ACCEPT, "it was not", by=None)
    assert acts(context) == []

    change(context, RunReview.__table__, run_id=here.other_run.id)
    words = "and the log says otherwise: rows were changed"
    assert sorted(acts(context)) == sorted([
        (f"run {here.run.id}", f"no review excludes it, {words}"),
        (f"run {here.other_run.id}", f"a review excludes it, {words}"),
    ])  # fmt: skip


def test_an_archiving_that_was_removed_is_named(context: Context, here: World) -> None:
    archive(context, ArchivalKind.RUN, here.run.id, "a mistake", by=None)
    archive(context, ArchivalKind.COMPETITION, "leaves", "a mistake", by=None)
    restore(context, ArchivalKind.COMPETITION, "leaves", "not so", by=None)
    assert acts(context) == []

    remove(context, Archival.__table__, Archival.__table__.c.name == here.run.id)
    change(context, Archival.__table__, restored_at=None)
    words = "and the log says otherwise: rows were changed"
    assert sorted(acts(context)) == [
        ("competition leaves", f"it is archived, {words}"),
        (f"run {here.run.id}", f"it is not archived, {words}"),
    ]


@pytest.mark.parametrize(
    ("to", "problem"),
    [
        ({"public_key": "00" * 32}, "its public key was changed"),
        ({"valid_before": None}, "it was retired, and its row does not say so"),
        ({"reason": "another"}, "it was revoked, and its row does not say so"),
    ],
)
def test_a_key_whose_row_was_changed_is_named(
    context: Context, here: World, to: dict[str, Any], problem: str
) -> None:
    decide(context, here.run.id, ReviewDecision.EXCLUDE, "copied", by=None)  # the first key
    second = keys.rotate(context)
    keys.revoke(context, second.id, "stolen")

    def problems() -> list[tuple[str, str]]:
        with context.database.read() as session:
            known = {key.id: key for key in signing_keys.all_keys(session)}
            return list(check_keys(session, known))

    assert problems() == []
    change(context, KEY, **to)
    assert any(problem in text for _, text in problems())


def test_a_key_that_the_log_does_not_know_is_named(context: Context) -> None:
    key = SigningKeyRecord(id="sig_1", name="podium", public_key="00" * 32, valid_after=NOON)
    context.database.write(lambda session: signing_keys.add(session, key, b""))

    with context.database.read() as session:
        assert list(check_keys(session, {})) == []  # it was made after the keys were read
        assert list(check_keys(session, {key.id: key})) == [
            ("signing key sig_1", "the log has no entry that it was made: the row was added"),
        ]  # fmt: skip
