"""Which keys are valid, and which runs and experiments each reaches."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.states import ArchivalKind, Role
from app.errors import Forbidden, NotFound, PodiumError, RunArchived, Unauthorized
from app.services import auth, new_keys
from app.services.auth import Caller
from app.services.experiments.archiving import archive, restore
from app.services.runtime.context import Context
from app.storage.database.records import KeyRecord
from app.storage.queries import keys
from tests.storage.make import World

A_RUN = Caller(Role.RUN, "k", run_id="run_a", experiment=None)
A_HARNESS = Caller(Role.HARNESS, "k", experiment="first")
A_RESEARCHER, AN_ADMIN = Caller(Role.RESEARCHER, "k"), Caller(Role.ADMIN, "k")


def stored(context: Context, role: Role = Role.RUN, **over) -> tuple[str, KeyRecord]:
    key, record = new_keys.new_key(role, "somebody", run_id=over.pop("run_id", None))
    record = replace(record, **over)
    context.database.write(lambda session: keys.add_key(session, record))
    return key, record


def refusals(context: Context, key: str, key_id: str) -> list[type[PodiumError] | None]:
    """The errors of the three ways to be let in: a key, a login and a signed URL."""

    def authenticate() -> None:
        with context.database.read() as session:
            auth.authenticate(session, key)

    def login() -> None:
        with context.database.read() as session:
            auth.authenticate_login(session, key_id)

    found: list[type[PodiumError] | None] = []
    for way in (authenticate, login, lambda: auth.require_live_key(context, key_id)):
        try:
            way()
        except PodiumError as error:
            found.append(type(error))
        else:
            found.append(None)
    return found


def test_a_valid_key_is_let_in_on_every_way(context: Context) -> None:
    key, record = stored(context, Role.RESEARCHER)

    assert refusals(context, key, record.id) == [None, None, None]


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({"revoked_at": datetime.now(UTC) - timedelta(days=1)}, False),
        ({"revoked_at": datetime.now(UTC) + timedelta(days=1)}, False),  # whatever the clock says
        ({"expires_at": datetime.now(UTC) - timedelta(seconds=1)}, False),
        ({"expires_at": datetime.now(UTC) + timedelta(days=1)}, True),
    ],
)
def test_a_revoked_or_expired_key_is_refused_on_every_way(
    context: Context, change: dict[str, datetime], valid: bool
) -> None:
    key, record = stored(context, Role.RESEARCHER, **change)

    expected = [None, None, None] if valid else [Unauthorized, Unauthorized, Forbidden]
    assert refusals(context, key, record.id) == expected


def test_an_unknown_key_is_refused_on_every_way(context: Context) -> None:
    stored(context)

    assert refusals(context, "pod_run_x", "key_x") == [Unauthorized, Unauthorized, Forbidden]
    assert refusals(context, "", "") == [Unauthorized, Unauthorized, Forbidden]


@pytest.mark.parametrize("kind", list(ArchivalKind))
def test_the_key_of_an_archived_run_opens_nothing_until_it_is_restored(
    context: Context, here: World, kind: ArchivalKind
) -> None:
    key, record = stored(context, run_id=here.run.id)
    name = {
        ArchivalKind.RUN: here.run.id,
        ArchivalKind.EXPERIMENT: here.run.experiment,
        ArchivalKind.COMPETITION: here.run.competition,
    }[kind]

    archive(context, kind, name, "a reason", by=None)
    assert refusals(context, key, record.id) == [RunArchived, RunArchived, Forbidden]
    restore(context, kind, name, "a reason", by=None)
    assert refusals(context, key, record.id) == [None, None, None]


def test_the_database_has_the_digest_of_a_key_and_not_the_key(context: Context) -> None:
    key, record = stored(context)

    assert key.startswith("pod_run_")
    assert len(key) == len("pod_run_") + 32
    assert record.digest == auth.key_digest(key)
    assert key not in repr(record)


def test_who_passes_which_check() -> None:
    checks = {
        auth.require_admin: [AN_ADMIN],
        auth.require_researcher: [A_RESEARCHER, AN_ADMIN],
        auth.require_grader: [A_HARNESS, A_RESEARCHER, AN_ADMIN],
        auth.require_no_harness: [A_RUN, A_RESEARCHER, AN_ADMIN],
    }
    for check, passing in checks.items():
        for caller in (A_RUN, A_HARNESS, A_RESEARCHER, AN_ADMIN):
            if caller in passing:
                check(caller)
            else:
                with pytest.raises(Forbidden):
                    check(caller)


def test_which_runs_each_key_reaches(here: World) -> None:
    own, other = here.run, here.other_run
    agent = Caller(Role.RUN, "k", run_id=own.id)
    harness = Caller(Role.HARNESS, "k", experiment=own.experiment)

    with here.database.read() as session:
        for caller in (agent, harness):
            assert auth.own_run(session, caller, own.id) == own
            for missing in (other.id, "run_none"):  # what is another's does not exist
                with pytest.raises(NotFound, match=f"There is no run '{missing}' for this key."):
                    auth.own_run(session, caller, missing)
        assert auth.own_run(session, A_RESEARCHER, other.id) == other
        with pytest.raises(NotFound):
            auth.own_run(session, AN_ADMIN, "run_none")


def test_a_harness_reaches_its_own_experiment_only() -> None:
    auth.require_own_experiment(A_HARNESS, "first")
    auth.require_own_experiment(A_RESEARCHER, "second")
    with pytest.raises(NotFound):
        auth.require_own_experiment(A_HARNESS, "second")
