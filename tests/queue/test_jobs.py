"""The queue in the database: jobs come and go with what they stand for."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.queue import jobs, tables
from app.services.runtime import environment
from app.storage.database import migrations, revisions
from app.storage.queries import submissions
from app.units import MEGABYTE
from tests.storage.make import World, make_submission, make_world

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)


@pytest.fixture
def world(database) -> World:
    made = make_world(database)
    environment.agree(database)
    return made


def queued(world):
    with world.database.read() as session:
        query = text("SELECT args->>'submission', queue_name FROM procrastinate_jobs ORDER BY id")
        return [tuple(row) for row in session.execute(query)]


def test_jobs_are_queued_by_size(world):
    sizes = [("a", 12, 0), ("b", 20 * MEGABYTE, 0), ("c", 250 * MEGABYTE, 0)]
    world.database.write(lambda s: jobs.defer(s, sizes))

    assert queued(world) == [("a", "small"), ("b", "medium"), ("c", "large")]


def test_competitions_with_a_metric_py_have_queues_of_their_own(world):
    sizes = [("a", 12, 0), ("b", 12, 0), ("c", 20 * MEGABYTE, 0)]
    world.database.write(lambda s: jobs.defer(s, sizes, {"b", "c"}))
    world.database.write(lambda s: jobs.defer_regradings(s, "r", [("d", 1), ("e", 1)], {"e"}))

    assert queued(world) == [
        ("a", "small"), ("b", "small-metric.py"), ("c", "medium-metric.py"), ("d", "small"),
        ("e", "small-metric.py"),
    ]  # fmt: skip


def test_a_file_behind_others_of_its_run_waits_for_the_first_of_another_run(world):
    given = [("a1", 1, 0), ("a2", 1, 1), ("a3", 1, 5000), ("b1", 1, 0)]
    world.database.write(lambda s: jobs.defer(s, given))
    world.database.write(lambda s: jobs.defer_regradings(s, "r", [("c", 1)]))
    query = text(
        "SELECT args->>'submission' FROM procrastinate_jobs ORDER BY priority DESC, id"
    )  # as Procrastinate fetches them
    with world.database.read() as session:
        assert list(session.execute(query).scalars()) == ["a1", "b1", "a2", "a3", "c"]


def test_a_job_exists_only_if_its_submission_does(world):
    made = make_submission(world.run)

    def store_and_fail(session):
        submissions.add_submissions(session, [made])
        jobs.defer(session, [(made.id, made.bytes, 0)])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        world.database.write(store_and_fail)

    assert queued(world) == []


def test_submissions_without_a_job_get_one_and_only_one(world):
    made = [world.submit() for _ in range(3)]
    world.database.write(lambda s: jobs.defer(s, [(made[0].id, 1, 0)]))

    assert world.database.write(jobs.defer_forgotten) == 3  # one of them of the other run
    assert world.database.write(jobs.defer_forgotten) == 0
    assert len(queued(world)) == 4
    assert {one.id for one in made} < {submission for submission, _ in queued(world)}


def test_runs_take_turns_in_forgotten_submissions_too(world):
    """Of what an embedded server left, one run's thousands stood before others' first ones."""
    made = [world.submit() for _ in range(4)]
    world.database.write(lambda s: jobs.defer(s, [(made[0].id, 1, 0)]))
    world.database.write(jobs.defer_forgotten)

    query = "SELECT args->>'submission', priority FROM procrastinate_jobs"
    with world.database.read() as session:
        priorities = dict(tuple(row) for row in session.execute(text(query)))
    assert [priorities.pop(one.id) for one in made] == [0, -1, -2, -3]
    assert list(priorities.values()) == [0]  # of the other run


def test_the_queues_tables_are_removed_and_made_again(database, database_url):
    migrations.downgrade(database_url, "0004")
    with database.read() as session:
        left = session.execute(
            text(
                "SELECT count(*) FROM pg_class WHERE relname LIKE 'procrastinate%' UNION ALL "
                "SELECT count(*) FROM pg_proc WHERE proname LIKE 'procrastinate%' UNION ALL "
                "SELECT count(*) FROM pg_type WHERE typname LIKE 'procrastinate%'"
            )
        )
        assert list(left.scalars()) == [0, 0, 0]
    migrations.upgrade(database_url)

    assert revisions.state(database) == "current"


def test_the_installed_procrastinate_brings_no_migration_that_podium_does_not_know(database):
    """If this fails: see `tables.KNOWN` for what a newer Procrastinate needs."""
    assert tables.shipped()[-1] == tables.KNOWN
    assert database.write(lambda s: tables.bring_up_to_date(s.connection())) == []


def test_what_a_newer_procrastinate_brings_can_be_found(database):
    def forget(session):
        name = tables.shipped()[-2]
        session.execute(text(f"COMMENT ON TABLE procrastinate_jobs IS '{name}'"))
        return session.execute(
            text("SELECT obj_description('procrastinate_jobs'::regclass)")
        ).scalar_one()

    noted = database.write(forget)
    assert [name for name in tables.shipped() if name > noted] == [tables.KNOWN]
