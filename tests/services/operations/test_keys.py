"""Which keys an admin can make, and for how long."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.domain.states import ArchivalKind, Role
from app.errors import Conflict, Invalid, NotFound
from app.services.experiments.archiving import archive
from app.services.operations import keys
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.records import KeyRecord
from app.storage.queries import keys as keys_table
from tests.storage.make import World, make_world


@pytest.mark.parametrize(
    ("role", "experiment", "is_made"),
    [
        (Role.ADMIN, None, True),
        (Role.RESEARCHER, None, True),
        (Role.HARNESS, "first", True),
        (Role.HARNESS, None, False),
        (Role.HARNESS, "", False),
        (Role.RESEARCHER, "first", False),
        (Role.RUN, None, False),
        (Role.RUN, "first", False),
    ],
)
def test_roles_and_experiments_that_fit(
    context: Context, here: World, role: Role, experiment: str | None, is_made: bool
) -> None:
    if is_made:
        made = keys.create(context, role, "x", "", experiment)
        assert (made.record.role, made.record.experiment) == (role, experiment)
        assert keys.find(context, made.record.id) == made.record
    else:
        with pytest.raises(Invalid):
            keys.create(context, role, "x", "", experiment)


def test_a_harness_needs_an_experiment_that_is_there(context: Context, here: World) -> None:
    with pytest.raises(NotFound):
        keys.create(context, Role.HARNESS, "x", "", "nobody")
    archive(context, ArchivalKind.EXPERIMENT, "first", "old", by=None)
    with pytest.raises(Conflict, match="archived"):
        keys.create(context, Role.HARNESS, "x", "", "first")


def test_of_two_who_revoke_the_others_at_once_one_key_is_left(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url)
    one, other = (open_context(settings, grades=False, validates=False) for _ in range(2))
    run = make_world(one.database).run.id
    keys.create_for_run(one, run, revoke_others=False)
    revoke_key = keys_table.revoke_key
    others: list[Future[keys.NewKey]] = []

    def revoke_slowly(*given: Any) -> KeyRecord | None:
        if not others:
            others.append(threads.submit(keys.create_for_run, other, run, revoke_others=True))
            wait(others, 0.3)  # it has to wait for this transaction
        return revoke_key(*given)

    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(keys_table, "revoke_key", revoke_slowly)
        first = keys.create_for_run(one, run, revoke_others=True)
        second = others[0].result()

    with one.database.read() as session:
        found = keys_table.list_keys(session, run=run)
    assert [each.id for each in found if each.revoked_at is None] == [second.record.id]
    assert first.record.id in second.revoked
    one.close()
    other.close()


@pytest.mark.parametrize(
    ("text", "hours"), [("1h", 1), ("12h", 12), ("90d", 90 * 24), ("99999h", 99999), ("", None)]
)
def test_lifetimes(context: Context, text: str, hours: int | None) -> None:
    record = keys.create(context, Role.ADMIN, "x", text).record

    if hours is None:
        assert record.expires_at is None
    else:
        assert record.expires_at == record.created_at + timedelta(hours=hours)


@pytest.mark.parametrize("text", ["0h", "012h", "1w", "h", "-1d", "1.5h", "100000h", "1h "])
def test_other_lifetimes_are_refused(context: Context, text: str) -> None:
    with pytest.raises(Invalid):
        keys.create(context, Role.ADMIN, "x", text)


def test_a_further_key_of_a_run_replaces_the_others_if_asked(context: Context, here: World) -> None:
    first = keys.create_for_run(context, here.run.id, revoke_others=False)
    other = keys.create_for_run(context, here.other_run.id, revoke_others=False)
    second = keys.create_for_run(context, here.run.id, revoke_others=False)

    third = keys.create_for_run(context, here.run.id, revoke_others=True)

    assert (first.revoked, second.revoked) == ((), ())
    assert set(third.revoked) == {first.record.id, second.record.id}
    for key_id, is_revoked in (
        (first.record.id, True), (third.record.id, False), (other.record.id, False),
    ):  # fmt: skip
        found = keys.find(context, key_id)
        assert found is not None
        assert (found.revoked_at is not None) == is_revoked
    assert keys.create_for_run(context, here.run.id, revoke_others=True).revoked == (
        third.record.id,
    )
    with pytest.raises(NotFound):
        keys.create_for_run(context, "run_none", revoke_others=True)


def test_keys_are_listed_without_end_or_in_pages(context: Context) -> None:
    made = [keys.create(context, Role.ADMIN, str(n), "").record.id for n in range(3)]

    everything, end = keys.page(context, limit=None)
    page, cursor = keys.page(context, limit=2)
    rest, last = keys.page(context, after=cursor, limit=2)

    assert [one.id for one in everything] == made == [one.id for one in page + rest]
    assert (end, last, cursor) == (None, None, made[1])
    assert keys.count(context) == (0, 3)
    assert keys.count(context, after=made[1]) == (2, 3)
    assert all(one.created_at <= datetime.now(UTC) for one in everything)
