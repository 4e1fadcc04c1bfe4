from __future__ import annotations

import threading

import pytest
from sqlalchemy.exc import IntegrityError, NoResultFound

from app.domain.feedback import Feedback
from app.domain.states import RunState
from app.storage.database.database import Database
from app.storage.queries import competitions, runs
from tests.storage.make import NOON, add_run, make_run


def test_a_run_comes_back_as_it_was_stored(world):
    made = add_run(
        world.database, world.version, "third", seed=2**40, feedback=Feedback.FULL,
        limits={"hours": 0.5}, usage={"steps": 3}, failure="none",
    )  # fmt: skip

    with world.database.read() as session:
        found = runs.get_run(session, made.id)

    assert found == made
    assert found.feedback.shows_everything


def test_an_unknown_run_is_not_found(world):
    with world.database.read() as session:
        assert runs.get_run(session, "run_none") is None
        assert runs.find_run(session, "first", "bikes", 2) is None


def test_a_run_is_found_by_what_makes_it_unique(world):
    with world.database.read() as session:
        other_version = competitions.current_version(session, "leaves")
    there = add_run(world.database, other_version, "first")
    later = add_run(world.database, world.version, "first", seed=2)
    with world.database.read() as session:
        assert runs.find_run(session, "first", "bikes", 1) == world.run
        assert runs.find_run(session, "first", "bikes", 2) == later
        assert runs.find_run(session, "first", "leaves", 1) == there
        assert runs.find_run(session, "second", "leaves", 7) == world.other_run


def test_a_seed_is_used_once_per_experiment_and_competition(world):
    with pytest.raises(IntegrityError):
        add_run(world.database, world.version, "first")


def test_a_run_needs_its_experiment(world):
    orphan = make_run(world.version, "nobody's")

    with pytest.raises(IntegrityError):
        world.database.write(lambda s: runs.add_run(s, orphan))


def test_lists_are_oldest_first_and_paged(world):
    third = add_run(world.database, world.version, "first", seed=2)

    with world.database.read() as session:
        first = runs.list_runs(session, limit=2)
        rest = runs.list_runs(session, after=first[-1].id, limit=2)

    assert first == [world.run, world.other_run]
    assert rest == [third]


def test_lists_can_be_of_one_experiment_or_competition(world):
    with world.database.read() as session:
        assert runs.list_runs(session, experiment="second", limit=9) == [world.other_run]
        assert runs.list_runs(session, competition="bikes", limit=9) == [world.run]
        assert runs.list_runs(session, experiment="second", competition="bikes", limit=9) == []


def test_an_update_changes_what_is_named_and_nothing_else(world):
    changed = world.database.write(
        lambda s: runs.update_run(s, world.run.id, state=RunState.CLOSED, closed_at=NOON)
    )

    assert (changed.state, changed.closed_at) == (RunState.CLOSED, NOON)
    with world.database.read() as session:
        assert runs.get_run(session, world.run.id) == changed
        assert runs.get_run(session, world.other_run.id) == world.other_run


def test_an_update_can_set_usage_to_none_again(world):
    world.database.write(lambda s: runs.update_run(s, world.run.id, usage={"steps": 1}))

    assert world.database.write(lambda s: runs.update_run(s, world.run.id, usage=None)) == world.run


def test_an_update_of_an_unknown_field_is_refused(world):
    with pytest.raises(ValueError, match="sead"):
        world.database.write(lambda s: runs.update_run(s, world.run.id, sead=2))


def test_an_update_of_an_unknown_run_is_refused(world):
    with pytest.raises(NoResultFound):
        world.database.write(lambda s: runs.update_run(s, "run_none", seed=2))


def test_locking_an_unknown_run_finds_nothing(world):
    assert world.database.write(lambda s: runs.lock_run(s, "run_none")) is None


def test_a_locked_run_makes_another_process_wait(world):
    """Two `Database` objects for one URL act like two processes: each has its own writer."""
    held, release, order = threading.Event(), threading.Event(), []

    def hold(session):
        runs.lock_run(session, world.run.id)
        held.set()
        release.wait(10)
        order.append("first")

    def follow(session):
        runs.lock_run(session, world.run.id)
        order.append("second")

    other = Database(world.database.url.render_as_string(hide_password=False))
    try:
        first = world.database.enqueue(hold)
        assert held.wait(10)
        second = other.enqueue(follow)
        with pytest.raises(TimeoutError):
            second.result(0.3)
        release.set()
        first.result(10)
        second.result(10)
    finally:
        release.set()
        other.close()

    assert order == ["first", "second"]


@pytest.mark.parametrize("database_kind", ["postgresql"])  # SQLite has one writer at a time
@pytest.mark.parametrize("held", [0, 1])
@pytest.mark.parametrize("asked", [slice(None), slice(None, None, -1)], ids=["in order", "turned"])
def test_runs_are_locked_by_their_ids_in_whatever_order_they_are_given(world, held, asked):
    """Who waits for the first has locked none; who waits for the second has locked the first."""
    made = [add_run(world.database, world.version, "third", seed=seed) for seed in (1, 2)]
    ids = sorted(one.id for one in made)
    holds, release = threading.Event(), threading.Event()

    def hold(session):
        runs.lock_run(session, ids[held])
        holds.set()
        release.wait(10)

    def is_free(session):
        query = runs.BY_ID.with_for_update(skip_locked=True)
        return session.execute(query, {"id": ids[1 - held]}).first() is not None

    url = world.database.url.render_as_string(hide_password=False)
    others = [Database(url) for _ in range(2)]
    try:
        first = world.database.enqueue(hold)
        assert holds.wait(10)
        second = others[0].enqueue(lambda session: list(runs.lock_runs(session, ids[asked])))
        with pytest.raises(TimeoutError):
            second.result(0.3)
        free = others[1].write(is_free)
        release.set()
        first.result(10)
        assert second.result(10) == ids
        assert free is (held == 0)
    finally:
        release.set()
        for other in others:
            other.close()


def test_locking_several_runs_leaves_out_those_that_do_not_exist(world):
    found = world.database.write(lambda s: runs.lock_runs(s, [world.run.id, "run_none"]))
    assert found == {world.run.id: world.run}
    assert world.database.write(lambda s: runs.lock_runs(s, [])) == {}
