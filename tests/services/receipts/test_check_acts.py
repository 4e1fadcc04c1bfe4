"""Rows that were changed without the log are found, and those that were changed by it are not."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.states import ArchivalKind, ReviewDecision
from app.errors import Conflict, NotFound
from app.services.experiments.archiving import archive, restore
from app.services.receipts import keys
from app.services.receipts.check_acts import check_acts, check_keys
from app.services.reviews.decide import decide
from app.services.runtime.context import Context
from app.storage.database.tables.acts import Archival
from app.storage.database.tables.receipts import SigningKey
from app.storage.database.tables.reviews import RunReview
from app.storage.queries.trust import signing_keys
from app.storage.queries.trust.signing_keys import SigningKeyRecord
from tests.services.receipts.test_check_runs import change, remove
from tests.storage.make import NOON, World

KEY = SigningKey.__table__


def acts(context: Context) -> list[tuple[str, str]]:
    with context.database.read() as session:
        return list(check_acts(session))


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
        ({"revoked_at": None}, "it was revoked, and its row does not say so"),
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


def test_a_key_is_revoked_once_and_the_next_one_signs(context: Context) -> None:
    first = keys.rotate(context)
    second = keys.rotate(context)
    assert first.id != second.id

    revoked = keys.revoke(context, second.id, "stolen")

    assert (revoked.id, revoked.reason) == (second.id, "stolen")
    assert revoked.revoked_at is not None
    assert revoked.valid_before is not None
    with pytest.raises(Conflict, match="was revoked at"):
        keys.revoke(context, second.id, "stolen")
    with pytest.raises(NotFound):
        keys.revoke(context, "key_none", "stolen")
    assert keys.rotate(context).id != second.id
