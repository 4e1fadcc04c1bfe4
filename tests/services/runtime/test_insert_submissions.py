"""Submissions of several runs that two servers store at the same moment."""

from __future__ import annotations

import logging

import pytest

from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import insert_submissions
from app.storage.database.records import RunRecord
from app.storage.queries import runs
from app.storage.queries.regrades.counted_grades import count_states
from tests.services.conftest import Meanwhile
from tests.storage.make import World, add_run, make_submission


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_servers_lock_runs_in_one_order(
    servers: tuple[Context, Context],
    world: World,
    meanwhile: Meanwhile,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each waited for the other, until PostgreSQL ended one of them after a second."""
    one, other = servers
    first, second = (add_run(one.database, world.version, "third", seed=seed) for seed in (1, 2))

    def insert(context: Context, *sending: RunRecord) -> None:
        rows = [make_submission(run) for run in sending]
        context.database.write(lambda session: insert_submissions(session, rows))

    ended = meanwhile(runs, "lock_run", lambda: insert(other, second, first))
    with caplog.at_level(logging.WARNING):
        insert(one, first, second)
        ended()
    assert not caplog.records
    with one.database.read() as session:
        sent = count_states(session, [first.id, second.id])
    assert [sum(each.values()) for each in sent.values()] == [2, 2]
