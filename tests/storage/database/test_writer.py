"""Group commit: waiting writes are committed together, and fail separately."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
from sqlalchemy import event, text

from app.errors import QuotaExceeded, Unavailable
from app.storage.database.database import Database
from app.storage.queries import experiments, submissions
from tests.storage.make import make_experiment, make_submission


@contextmanager
def one_group(database):
    """Writes that are enqueued inside wait together, as they would for a slow disk."""
    release = threading.Event()
    started = threading.Event()

    def hold(session):
        session.execute(text("SELECT 1"))
        started.set()
        release.wait(10)

    held = database.enqueue(hold)
    assert started.wait(10)
    yield
    release.set()
    held.result(10)


@pytest.fixture
def commits(database):
    counted = []
    event.listen(database.writing_engine, "commit", lambda connection: counted.append(1))
    return counted


def adding(name, calls=None):
    def add(session):
        if calls is not None:
            calls.append(name)
        experiments.add(session, make_experiment(name))
        return name

    return add


def names(database):
    with database.read() as session:
        return [each.name for each in experiments.list_page(session, limit=1000)]


def test_a_write_returns_what_its_function_returns(database):
    assert database.write(adding("aide")) == "aide"
    assert names(database) == ["aide"]


def test_what_waits_together_is_committed_once(database, commits):
    database.write(adding("first"))  # a writer's own first commit is behind us
    before = len(commits)

    with one_group(database):
        futures = [database.enqueue(adding(f"e{n:03}")) for n in range(100)]

    assert [future.result(10) for future in futures] == [f"e{n:03}" for n in range(100)]
    assert len(commits) - before == 2  # the one that held the others up, and theirs
    assert len(names(database)) == 101


def test_no_result_comes_before_the_commit(database):
    seen = []
    with one_group(database):
        future = database.enqueue(adding("aide"))
        future.add_done_callback(lambda _: seen.append(names(database)))
        assert not future.done()

    future.result(10)
    database.write(lambda session: None)
    assert seen == [["aide"]]


def test_functions_run_in_the_order_they_came(database):
    calls = []
    with one_group(database):
        futures = [database.enqueue(adding(f"e{n}", calls)) for n in reversed(range(9))]

    for future in futures:
        future.result(10)
    assert calls == [f"e{n}" for n in reversed(range(9))]


def test_a_later_function_sees_what_an_earlier_one_of_its_group_did(database):
    with one_group(database):
        database.enqueue(adding("aide"))
        seen = database.enqueue(lambda s: experiments.get(s, "aide"))

    assert seen.result(10).name == "aide"


def test_only_the_guilty_function_fails(database, commits):
    database.write(adding("taken"))
    before = len(commits)
    with one_group(database):
        good = [database.enqueue(adding("before"))]
        guilty = [database.enqueue(adding("taken")), database.enqueue(lambda s: 1 // 0)]
        good.append(database.enqueue(adding("after")))

    assert [future.result(10) for future in good] == ["before", "after"]
    assert "UNIQUE" in str(guilty[0].exception(10)).upper()
    assert isinstance(guilty[1].exception(10), ZeroDivisionError)
    assert names(database) == ["after", "before", "taken"]
    assert len(commits) - before == 2  # still one commit for all of them


def test_a_function_that_fails_late_leaves_nothing_behind(database):
    def half(session):
        adding("half")(session)
        raise QuotaExceeded("enough", 1)

    with one_group(database):
        failed = database.enqueue(half)
        good = database.enqueue(adding("good"))

    with pytest.raises(QuotaExceeded):
        failed.result(10)
    assert good.result(10) == "good"
    assert names(database) == ["good"]


def test_a_function_alone_that_fails_is_run_once(database):
    calls = []
    database.write(adding("aide"))

    with pytest.raises(Exception, match=r"(?i)unique"):
        database.write(adding("aide", calls))

    assert calls == ["aide"]


def test_a_failing_commit_fails_its_function_alone(database):
    """A constraint that is checked at COMMIT: no function raises, the commit does."""
    if database.is_sqlite:
        make_table = "CREATE TABLE late (of TEXT REFERENCES run(id) DEFERRABLE INITIALLY DEFERRED)"
    else:
        make_table = (
            'CREATE TABLE late (of TEXT COLLATE "C" REFERENCES run(id) '
            "DEFERRABLE INITIALLY DEFERRED)"
        )
    database.write(lambda s: s.execute(text(make_table)) and None)
    with one_group(database):
        good = database.enqueue(adding("good"))
        guilty = database.enqueue(
            lambda s: s.execute(text("INSERT INTO late VALUES ('run_none')")) and None
        )

    assert good.result(10) == "good"
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        guilty.result(10)
    assert names(database) == ["good"]


def test_even_an_exit_is_only_the_functions_own(database):
    def leave(session):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        database.write(leave)
    assert database.write(adding("aide")) == "aide"


def test_a_cancelled_function_is_not_run(database):
    calls = []
    with one_group(database):
        future = database.enqueue(adding("aide", calls))
        assert future.cancel()

    database.write(lambda session: None)
    assert calls == []


def test_a_write_inside_a_write_is_refused_instead_of_waiting_for_ever(database):
    with pytest.raises(RuntimeError, match="cannot wait for another write"):
        database.write(lambda session: database.write(adding("aide")))


def test_closing_commits_what_waits(database_url):
    database = Database(database_url)
    with one_group(database):
        futures = [database.enqueue(adding(f"e{n}")) for n in range(600)]
    database.close()

    assert all(future.done() for future in futures)
    again = Database(database_url)
    assert len(names(again)) == 600
    again.close()


def test_a_closed_database_accepts_no_writes(database_url):
    database = Database(database_url)
    database.close()
    database.close()

    with pytest.raises(Unavailable, match="shutting down"):
        database.enqueue(adding("aide"))


def test_a_closed_writer_leaves_no_receipt(database_url):
    database = Database(database_url)
    database.write(adding("aide"))
    database.close()

    again = Database(database_url)
    with again.read() as session:
        assert session.execute(text("SELECT count(*) FROM write_receipt")).scalar_one() == 0
    again.close()


def test_many_threads_lose_nothing(world):
    stored: list[str] = []

    def work():
        for _ in range(20):
            made = make_submission(world.run)
            world.database.write(lambda s, made=made: submissions.add_submissions(s, [made]))
            stored.append(made.id)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    with world.database.read() as session:
        found = submissions.list_submissions(session, world.run.id, limit=1000)
    assert sorted(stored) == [submission.id for submission, _ in found]
    assert len(stored) == 320
