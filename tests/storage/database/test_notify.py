"""Notifications of changed rows: sent to every process after the commit, also after outages."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import psycopg
import pytest
from sqlalchemy import text

from app.storage.database import migrations, notify
from app.storage.database.database import Database
from app.storage.database.engine import make_engine
from app.storage.queries import experiments
from app.storage.queries.ids import new_id
from tests.crashable import crashable_postgres
from tests.postgres import Postgres
from tests.storage.make import make_experiment


class Heard:
    """The notifications from a database, and the number of possible gaps that it reported."""

    def __init__(self, database, failing=0):
        """The first `failing` gaps end with an error."""
        self.failing = failing
        self.ids = []
        self.gaps = 0
        self._changed = threading.Condition()
        database.listen(self._hear, self._gap)

    def _hear(self, ids):
        with self._changed:
            self.ids += ids
            self._changed.notify_all()

    def _gap(self):
        with self._changed:
            self.gaps += 1
            self._changed.notify_all()
            if self.gaps <= self.failing:
                raise ValueError("an error that nobody expected")

    def wait(self, condition, seconds=20):
        with self._changed:
            assert self._changed.wait_for(condition, seconds), (self.ids[-3:], self.gaps)


@contextlib.contextmanager
def opened(url):
    database = Database(url)
    try:
        yield database
    finally:
        database.close()


def listening(database):
    heard = Heard(database)
    if not database.is_sqlite:
        heard.wait(lambda: heard.gaps == 1)
    return heard


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_is_committed_is_notified(database):
    heard = listening(database)
    database.write(lambda session: notify.publish(session, ["run_1", "sub_1", "run_1"]))

    heard.wait(lambda: len(heard.ids) >= 2)
    assert heard.ids == ["run_1", "sub_1"]


def test_what_is_rolled_back_is_not_notified(database):
    def fail(session):
        notify.publish(session, ["run_undone"])
        raise ValueError("no")

    heard = listening(database)
    with pytest.raises(ValueError, match="no"):
        database.write(fail)
    database.write(lambda session: notify.publish(session, ["run_done"]))

    heard.wait(lambda: heard.ids)
    assert heard.ids == ["run_done"]


def test_ids_beyond_the_size_of_a_notification_all_arrive(database):
    heard = listening(database)
    ids = [new_id("sub") for _ in range(1000)]
    database.write(lambda session: notify.publish(session, ids))

    heard.wait(lambda: len(heard.ids) >= 1000)
    assert heard.ids == ids


def test_no_result_comes_before_the_commit(database):
    """A notified row must be readable at once."""
    name = new_id("e")
    seen = []

    def look(ids):
        with database.read() as session:
            seen.append(experiments.get(session, name))

    def add(session):
        notify.publish(session, [name])
        experiments.add(session, make_experiment(name))

    listens = threading.Event()
    database.listen(look, listens.set)
    assert database.is_sqlite or listens.wait(20)
    database.write(add)

    wait_until(lambda: seen)
    assert [each.name for each in seen] == [name]


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
class TestOtherProcesses:
    def test_hear_it_too(self, database, database_url):
        heard = listening(database)
        with opened(database_url) as other:
            other.write(lambda session: notify.publish(session, ["run_far"]))
            heard.wait(lambda: heard.ids)
        assert heard.ids == ["run_far"]

    def test_an_error_of_a_listener_ends_no_notifications(self, database):
        heard = Heard(database, failing=2)
        heard.wait(lambda: heard.gaps == 3)
        database.write(lambda session: notify.publish(session, ["run_1"]))

        heard.wait(lambda: heard.ids)
        assert heard.ids == ["run_1"]
        assert database.is_listening

    def test_a_killed_connection_is_opened_again_and_the_gap_reported(self, database, database_url):
        heard = listening(database)
        engine = make_engine(database_url, connections=1, writes=True)
        with engine.begin() as connection:
            killed = connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE query = 'LISTEN podium' AND datname = current_database()"
                )
            ).all()
        engine.dispose()
        heard.wait(lambda: heard.gaps == 2)
        database.write(lambda session: notify.publish(session, ["run_after"]))

        heard.wait(lambda: heard.ids)
        assert len(killed) == 1
        assert heard.ids == ["run_after"]

    def test_an_idle_listener_asks_the_database_nothing(self, database, database_url):
        listening(database)
        query = text(
            "SELECT query, state, state_change FROM pg_stat_activity "
            "WHERE query = 'LISTEN podium' AND datname = current_database()"
        )
        with database.read() as session:
            before = session.execute(query).all()
        time.sleep(1)
        with database.read() as session:
            after = session.execute(query).all()
        assert len(before) == 1
        assert before == after

    def test_closing_does_not_wait(self, database_url):
        database = Database(database_url)
        listening(database)
        started = time.monotonic()
        database.close()
        assert time.monotonic() - started < 5
        assert not database.is_listening


def test_a_server_that_crashes_is_listened_to_again():
    with crashable_postgres() as server, server.database() as name:
        migrations.upgrade(server.url(name))
        with opened(server.url(name)) as database:
            heard = listening(database)
            wait_until(lambda: database.is_listening)
            server.stop(signal.SIGQUIT)
            wait_until(lambda: not database.is_listening)
            server.start()
            heard.wait(lambda: heard.gaps == 2)
            database.write(lambda session: notify.publish(session, ["run_after"]))
            heard.wait(lambda: heard.ids)
            wait_until(lambda: database.is_listening)


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_one_of_several_hosts_is_listened_to(database_url, tmp_path):
    """The URL has the form of SQLAlchemy, which libpq reads as that of the last host alone."""
    with opened(f"{database_url}&host={tmp_path}") as database:
        listening(database)
        wait_until(lambda: database.is_listening)


def test_a_time_limit_of_idle_connections_ends_none_of_ours(
    postgres: Postgres, migrated_postgres: str
) -> None:
    with postgres.database(migrated_postgres) as name:
        with psycopg.connect(postgres.url(name)) as connection:
            connection.execute(f"ALTER DATABASE {name} SET idle_session_timeout = 100")
        with opened(postgres.url(name)) as database:
            heard = listening(database)
            pid = text("SELECT pg_backend_pid()")
            first = database.write(lambda session: session.execute(pid).scalar_one())
            time.sleep(0.5)

            assert heard.gaps == 1
            assert database.write(lambda session: session.execute(pid).scalar_one()) == first
