"""Validations are counted to the last one, and each of them is read once."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from app.services.runtime.context import Context
from app.services.submissions import validation_counts
from app.storage.database.models import Disclosure
from tests.storage.make import NOON, World


def has_validations(context: Context, run_id: str, kind: str, most: int) -> bool:
    with context.database.read() as session:
        validation_counts.count_on(context, session, run_id, kind)
        return validation_counts.has_validations(context, session, run_id, kind, most)


def check(context: Context, here: World, number: int, kind: str = "validation") -> None:
    """Files of both runs are checked in turn."""
    rows = [
        {"run_id": run.id, "kind": kind, "at": NOON}
        for _ in range(number)
        for run in (here.run, here.other_run)
    ]

    def add(session: Session) -> None:
        session.execute(insert(Disclosure.__table__), rows)

    context.database.write(add)


@pytest.mark.parametrize("settled", [0.0, 3600.0])
def test_the_count_goes_on_from_the_one_before(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch, settled: float
) -> None:
    monkeypatch.setattr(validation_counts, "SETTLED_SECONDS", settled)
    check(context, here, 1, "harness_validation")  # counts apart
    for number in range(1, 8):
        check(context, here, 1)
        assert has_validations(context, here.run.id, "validation", number)
        assert not has_validations(context, here.run.id, "validation", number + 1)


def test_without_a_count_all_are_counted(context: Context, here: World) -> None:
    check(context, here, 2)

    with context.database.read() as session:
        for most, expected in ((2, True), (3, False)):
            found = validation_counts.has_validations(
                context, session, here.run.id, "validation", most
            )
            assert found is expected


def test_what_was_counted_is_not_read_again(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation_counts, "SETTLED_SECONDS", 0.0)
    check(context, here, 50)
    for _ in range(2):  # the second one counts what the first one saw
        assert has_validations(context, here.run.id, "validation", 50)

    context.database.write(remove_all)  # nobody does so; what is left is what is not read again
    assert has_validations(context, here.run.id, "validation", 50)


def remove_all(session: Session) -> None:
    session.execute(delete(Disclosure.__table__))
