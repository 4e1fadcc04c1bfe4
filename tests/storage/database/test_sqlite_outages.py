"""SQLite locked by another process, on a full disk, and on a missing disk; nothing is simulated."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
import time

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.errors import StorageFull, Unavailable
from app.storage.database.database import Database
from app.storage.queries import experiments
from tests.storage.disks import fill, small_disk
from tests.storage.make import make_experiment


@pytest.fixture
def path(tmp_path, migrated_sqlite):
    return shutil.copy(migrated_sqlite, tmp_path / "podium.db")


@contextlib.contextmanager
def opened(path, patience):
    database = Database(f"sqlite:///{path}", write_patience=patience)
    try:
        yield database
    finally:
        database.close()


@contextlib.contextmanager
def locked(path):
    """Another connection's write transaction."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.rollback()


def add(database, name, **over):
    made = make_experiment(name, **over)
    return database.write(lambda s: experiments.add(s, made))


def names(database):
    with database.read() as session:
        return [each.name for each in experiments.list_page(session, limit=99)]


def test_a_write_waits_for_another_process(path):
    with opened(path, 15) as database:
        add(database, "before")
        with locked(path):
            future = database.enqueue(lambda s: experiments.add(s, make_experiment("during")))
            time.sleep(1)
            assert not future.done()
        assert future.result(10).name == "during"
        assert names(database) == ["before", "during"]


def test_a_lock_that_outlasts_patience_is_unavailability(path):
    with opened(path, 0.4) as database:
        with locked(path):
            begun = time.monotonic()
            with pytest.raises(Unavailable) as caught:
                add(database, "during")
            assert 0.3 < time.monotonic() - begun < 3
            assert caught.value.status == 503
            assert caught.value.headers == {"Retry-After": "2"}

        add(database, "after")
        assert names(database) == ["after"]


def test_what_comes_while_the_lock_lasts_has_its_own_patience(path):
    """A late write succeeds after the lock ends, although an earlier one has timed out."""
    with opened(path, 1.0) as database:
        with locked(path):
            first = database.enqueue(lambda s: experiments.add(s, make_experiment("first")))
            time.sleep(0.9)
            second = database.enqueue(lambda s: experiments.add(s, make_experiment("second")))
            with pytest.raises(Unavailable):
                first.result(10)
            assert not second.done()
        assert second.result(10).name == "second"
        assert names(database) == ["second"]


def test_reading_goes_on_while_another_process_writes(path):
    with opened(path, 0.4) as database, locked(path):
        assert names(database) == []


def test_a_file_that_lets_nobody_in_is_unavailability_for_readers(path):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE held (x)")
        with opened(path, 0.1) as database:
            with pytest.raises(Unavailable):
                names(database)
            with pytest.raises(Unavailable):
                database.ping()
            other.rollback()
            other.close()

            assert names(database) == []


def test_a_file_out_of_reach_is_unavailability(tmp_path):
    with opened(tmp_path / "nowhere" / "podium.db", 0.2) as database:
        with pytest.raises(Unavailable):
            database.ping()
        with pytest.raises(Unavailable):
            add(database, "aide")


def test_a_mistake_in_a_query_is_no_outage(path):
    with opened(path, 15) as database:
        begun = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            database.write(_ask_for_nothing)
        assert time.monotonic() - begun < 5


def _ask_for_nothing(session):
    with pytest.raises(DBAPIError) as failed:
        session.connection().exec_driver_sql("SELECT * FROM nowhere")
    assert failed.value.orig is not None
    raise failed.value.orig


def test_a_full_disk_is_named_and_keeps_what_was_stored(tmp_path, migrated_sqlite):
    with small_disk(tmp_path / "disk", 4096) as disk:
        path = shutil.copy(migrated_sqlite, disk / "podium.db")
        with opened(path, 15) as database:
            add(database, "before")
            ballast = fill(disk)
            with pytest.raises(StorageFull) as caught:
                add(database, "during", notes="x" * 100_000)
            assert caught.value.status == 507
            assert names(database) == ["before"]

            ballast.unlink()
            add(database, "after", notes="x" * 100_000)
            assert names(database) == ["after", "before"]


def test_on_a_full_disk_all_waiting_writes_fail_with_the_reason(tmp_path, migrated_sqlite):
    with small_disk(tmp_path / "disk", 4096) as disk:
        path = shutil.copy(migrated_sqlite, disk / "podium.db")
        with opened(path, 15) as database:
            add(database, "before")
            fill(disk)
            release = threading.Event()
            database.enqueue(lambda s: release.wait(10))
            futures = [
                database.enqueue(
                    lambda s, n=n: experiments.add(s, make_experiment(f"e{n}", notes="x" * 50_000))
                )
                for n in range(5)
            ]
            release.set()

            assert {type(future.exception(30)) for future in futures} == {StorageFull}
            assert names(database) == ["before"]


def test_a_database_as_large_as_it_may_get_is_a_full_disk(path):
    with opened(path, 15) as database:
        database.write(lambda s: s.execute(text("PRAGMA max_page_count = 60")).all())
        with pytest.raises(StorageFull):
            add(database, "during", notes="x" * 1_000_000)

        assert add(database, "after").name == "after"
