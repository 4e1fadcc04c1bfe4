"""The clock of a run starts once, at the first request of its key."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.states import Role, RunState
from app.services.auth import authenticate
from app.services.new_keys import new_key
from app.services.runtime.insert_submissions import InsertedSubmission, insert_submissions
from app.storage.database.database import Database
from app.storage.database.records import RunRecord
from app.storage.queries import keys, runs
from tests.storage.make import NOON, World, make_submission


def stored(world: World) -> RunRecord:
    with world.database.read() as session:
        run = runs.get_run(session, world.run.id)
    assert run is not None
    return run


def waiting_run(world: World, key: str) -> str | None:
    with world.database.read() as session:
        return authenticate(session, key).waiting_run


@pytest.fixture
def key(world: World) -> str:
    key, record = new_key(Role.RUN, "a run", run_id=world.run.id)
    world.database.write(lambda session: keys.add_key(session, record))
    return key


def test_a_run_waits_until_its_clock_starts(world: World, key: str) -> None:
    assert waiting_run(world, key) == world.run.id

    world.database.write(lambda s: runs.start_clocks(s, [world.run.id], NOON))

    assert waiting_run(world, key) is None
    assert stored(world).started_at == NOON


def test_a_closed_run_does_not_wait_and_does_not_start(world: World, key: str) -> None:
    world.database.write(lambda s: runs.update_run(s, world.run.id, state=RunState.CLOSED))
    world.database.write(lambda s: runs.start_clocks(s, [world.run.id], NOON))

    assert waiting_run(world, key) is None
    assert stored(world).started_at is None


def test_the_first_of_many_starts_sets_the_time(world: World, database_url: str) -> None:
    """Servers with a writer of their own start one run at the same time."""
    servers = [Database(database_url) for _ in range(4)]
    moments = [NOON + timedelta(seconds=n) for n in range(40)]
    seen = []

    def start(n: int) -> None:
        servers[n % 4].write(lambda s: runs.start_clocks(s, [world.run.id], moments[n]))
        seen.append(stored(world).started_at)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(start, range(40)))
    for server in servers:
        server.close()

    assert len(set(seen)) == 1
    assert seen[0] in moments


def test_a_submission_of_a_researcher_starts_the_clock_too(world: World) -> None:
    first = make_submission(world.run, received_at=NOON, run_seconds=0.0)
    second = make_submission(world.run, received_at=NOON + timedelta(seconds=90), run_seconds=0.0)
    late = replace(second, id=second.id + "x", received_at=NOON + timedelta(hours=3))

    outcomes = world.database.write(lambda s: insert_submissions(s, [first, second]))
    (after,) = world.database.write(lambda s: insert_submissions(s, [late]))

    found = [
        one.submission.run_seconds
        for one in (*outcomes, after)
        if isinstance(one, InsertedSubmission)
    ]
    assert found == [0.0, 90.0, 10_800.0]
    assert stored(world).started_at == NOON


def test_a_run_that_was_made_long_ago_measures_from_its_start(world: World) -> None:
    started = datetime.now(UTC)
    world.database.write(lambda s: runs.start_clocks(s, [world.run.id], started))
    sent = make_submission(world.run, received_at=started + timedelta(seconds=5), run_seconds=0.0)

    (outcome,) = world.database.write(lambda s: insert_submissions(s, [sent]))

    assert isinstance(outcome, InsertedSubmission)
    assert outcome.submission.run_seconds == 5.0
