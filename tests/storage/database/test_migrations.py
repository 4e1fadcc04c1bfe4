from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from datetime import UTC, datetime

import psycopg
import pytest
from sqlalchemy import inspect, select, text

from app import bundled
from app.errors import SchemaTooNew, UnknownSchema
from app.grading.graded import Sketch
from app.storage.database import migrations, revisions
from app.storage.database.database import Database
from app.storage.database.engine import make_engine
from app.storage.database.models import Base
from app.storage.database.tables.reviews import SubmissionSketch
from app.storage.database.wait_for_database import upgrade_when_reachable
from app.storage.queries import runs
from app.storage.queries.reviews import sketches
from tests.forkserver import run_podium
from tests.server import PodiumServer
from tests.storage.make import make_world


@pytest.fixture
def empty(empty_database_url):
    database = Database(empty_database_url)
    yield database
    database.close()


def tables(database):
    with database.read() as session:
        found = set(inspect(session.connection()).get_table_names())
    return {name for name in found if migrations.is_ours(name, "table", {})}


def test_upgrading_makes_every_table(empty, empty_database_url):
    migrations.upgrade(empty_database_url)

    assert tables(empty) == {*Base.metadata.tables, "alembic_version"}


def test_a_database_that_cannot_store_all_texts_is_refused(postgres, empty_postgres, tmp_path):
    with psycopg.connect(postgres.url(empty_postgres), autocommit=True) as connection:
        name = f"{empty_postgres}_latin"
        options = "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc"
        connection.execute(f"CREATE DATABASE {name} {options}")
        try:
            server = PodiumServer(tmp_path / "data", postgres.url(name))
            for words in (["serve", "--port", "0"], ["db", "upgrade"]):
                done = run_podium(
                    words,
                    env=server.environment, capture_output=True, text=True, check=False, timeout=60,
                )  # fmt: skip
                assert done.returncode == 1
                assert "Traceback" not in done.stderr
                assert "has the encoding LATIN1" in done.stderr
        finally:
            connection.execute(f"DROP DATABASE {name}")


def test_models_and_migrations_agree(database):
    assert migrations.differences(database) == []


def test_a_difference_is_found(database):
    def change(session):
        session.execute(text("ALTER TABLE run ADD COLUMN mood TEXT"))
        session.execute(text("DROP INDEX ix_submission_state_id"))

    database.write(change)

    found = sorted(each[0] for each in migrations.differences(database))
    assert found == ["add_index", "remove_column"]


def test_constraints_have_the_names_the_models_give_them(database):
    with database.read() as session:
        found = inspect(session.connection())
        for table in Base.metadata.sorted_tables:
            ours = {c.name for c in table.constraints if c.name} | {i.name for i in table.indexes}
            theirs = {
                found.get_pk_constraint(table.name)["name"],
                *(each["name"] for each in found.get_unique_constraints(table.name)),
                *(each["name"] for each in found.get_foreign_keys(table.name)),
                *(each["name"] for each in found.get_indexes(table.name)),
            }
            assert ours == theirs


def test_a_database_can_be_downgraded_and_upgraded_again(empty, empty_database_url):
    migrations.upgrade(empty_database_url)
    make_world(empty)
    migrations.downgrade(empty_database_url, "base")
    assert tables(empty) == {"alembic_version"}

    migrations.upgrade(empty_database_url)

    assert revisions.state(empty) == "current"
    assert migrations.differences(empty) == []
    make_world(empty)


def test_the_clock_of_a_run_from_before_clocks_started_when_it_was_made(empty, empty_database_url):
    migrations.upgrade(empty_database_url)
    run = make_world(empty).run
    migrations.downgrade(empty_database_url, "0006")

    migrations.upgrade(empty_database_url)

    with empty.read() as session:
        found = runs.get_run(session, run.id)
    assert run.started_at is None
    assert found.started_at == run.created_at


def test_sketches_without_numbers_get_them_in_the_order_of_their_reviews(empty, empty_database_url):
    migrations.upgrade(empty_database_url)
    world = make_world(empty)
    first, second, third = (world.submit().id for _ in range(3))
    sketch = Sketch(7, b"\0\xff" * 128, b"\x01" * 256)
    for one in (first, second, third):
        add = [(one, world.version.id, sketch)]
        empty.write(lambda s, add=add: sketches.add_all(s, add))
    for one, day in ((second, 2), (first, 4)):
        at = datetime(2026, 3, day, tzinfo=UTC)
        empty.write(lambda s, one=one, at=at: sketches.set_reviewed(s, [one], at))
    migrations.downgrade(empty_database_url, "0014")

    migrations.upgrade(empty_database_url)

    query = select(SubmissionSketch).order_by(SubmissionSketch.id)
    with empty.read() as session:
        rows = session.scalars(query).all()
        found = [(one.submission_id, one.reviewed_at and one.reviewed_at.day) for one in rows]
        blocks = {(one.rows, one.blocks, one.cells) for one in rows}
    assert found == [(second, 2), (first, 4), (third, None)]
    assert blocks == {(7, sketch.blocks, sketch.cells)}
    assert migrations.differences(empty) == []


def test_upgrading_twice_keeps_what_is_there(database, database_url):
    world = make_world(database)
    migrations.upgrade(database_url)

    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM run")).scalar_one() == 2
    assert world.run


def test_an_empty_database_is_not_current(empty):
    assert revisions.state(empty) != "current"
    assert revisions.state(empty) == "older"


def test_a_database_of_a_newer_podium_is_not_current_and_says_so(database, database_url):
    database.write(
        lambda s: s.execute(text("UPDATE alembic_version SET version_num = '9999'")) and None
    )

    assert revisions.state(database) == "newer"
    with pytest.raises(SchemaTooNew, match="9999"):
        migrations.upgrade(database_url)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM alembic_version", "has no row"),
        ("INSERT INTO alembic_version VALUES ('0001')", "has 2 rows (0001, "),
    ],
)
def test_a_database_that_does_not_say_its_schema_is_not_migrated(
    database, database_url, change, told
):
    database.write(lambda s: s.execute(text(change)) and None)

    for ask in (
        lambda: revisions.state(database),
        lambda: upgrade_when_reachable(database_url, 0),
        lambda: migrations.upgrade(database_url),
        lambda: migrations.downgrade(database_url, "base"),
    ):
        with pytest.raises(UnknownSchema, match=re.escape(told)):
            ask()


def test_a_failed_migration_leaves_nothing_half_done(empty, empty_database_url):
    engine = make_engine(empty_database_url, connections=1, writes=True)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE write_receipt (x INTEGER)"))
    engine.dispose()

    with pytest.raises(Exception, match="already exists"):
        migrations.upgrade(empty_database_url)

    assert tables(empty) == {"write_receipt"}


def test_processes_that_start_at_once_migrate_once(empty, empty_database_url):
    failures = []

    def migrate():
        try:
            migrations.upgrade(empty_database_url)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failures == []
    assert revisions.state(empty) == "current"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_migration_that_would_break_references_is_undone(database, database_url):
    make_world(database)
    with (
        pytest.raises(RuntimeError, match="foreign keys of run"),
        migrations.migrating(database_url) as config,
    ):
        config.attributes["connection"].execute(text("DELETE FROM experiment"))

    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM experiment")).scalar_one() == 2


def test_other_users_can_read_the_lock_of_an_upgrade(tmp_path):
    """As of `podium db upgrade` by root, whose umask may be 077."""
    before = os.umask(0o077)
    try:
        migrations.upgrade(f"sqlite:///{tmp_path / 'podium.db'}")
    finally:
        os.umask(before)

    assert (tmp_path / "podium.db.migrating").stat().st_mode & 0o777 == 0o644


def test_a_row_that_was_deleted_by_hand_is_told_before_the_upgrade(tmp_path):
    """The command `sqlite3` enforces no foreign keys, and a Podium serves such a database."""
    server = PodiumServer(tmp_path / "data", migrates=True)
    server.data_dir.mkdir()
    url = f"sqlite:///{server.data_dir / 'podium.db'}"
    migrations.upgrade(url)
    database = Database(url)
    run = make_world(database).run
    database.close()
    migrations.downgrade(url, "0024")
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as connection:
        connection.execute("DELETE FROM experiment WHERE name = ?", (run.experiment,))
        connection.commit()

    for words in (["db", "upgrade"], ["serve", "--port", "0"]):
        done = run_podium(
            words, env=server.environment, capture_output=True, text=True, check=False, timeout=60
        )
        told = " ".join(done.stderr.split())
        assert done.returncode == 1
        assert "Traceback" not in told
        assert f"refers by experiment to {run.experiment!r}, and experiment has no row" in told

    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as connection:
        assert connection.execute("SELECT * FROM alembic_version").fetchall() == [("0024",)]


def test_missing_migrations_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path / package)

    with pytest.raises(FileNotFoundError, match="there are no migrations in"):
        revisions.migrations_directory()
