from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text

from app.storage.database import engine, migrations
from app.storage.database.database import Database
from app.storage.queries import experiments
from tests.forkserver import run_podium
from tests.server import PodiumServer
from tests.storage.make import make_experiment

ROOT = Path(__file__).parents[3]
ENDLESS_WRITES = """
import sys, threading
from app.storage.queries import experiments
from app.storage.database.database import Database
from app.storage.queries.ids import new_id
from tests.storage.make import make_experiment

database = Database(sys.argv[1])
def work():
    while True:
        name = database.write(lambda s: experiments.add(s, make_experiment(new_id("e")))).name
        sys.stdout.write(name + "\\n")
        sys.stdout.flush()
for _ in range(4):
    threading.Thread(target=work).start()
"""


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_memory_is_no_place_for_grades(url):
    with pytest.raises(ValueError, match="file"):
        Database(url)


def test_other_databases_are_refused_by_name():
    with pytest.raises(ValueError, match="mysql"):
        Database("mysql://podium@localhost/podium")


def test_a_ping_reads(database):
    database.ping()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_log_that_grew_while_somebody_read_does_not_keep_its_size(database):
    """After a backup the disk had it until the server ended."""
    log = Path(f"{database.url.database}-wal")
    half = (engine.KEPT_LOG_BYTES // 2,)

    def write(session):
        session.execute(text("CREATE TABLE IF NOT EXISTS filler (bytes BLOB)"))
        session.connection().exec_driver_sql("INSERT INTO filler VALUES (zeroblob(?))", half)

    with database.read() as session:
        session.execute(text("SELECT count(*) FROM run")).all()
        for _ in range(3):
            database.write(write)
    grown = log.stat().st_size
    for _ in range(2):
        database.write(lambda session: session.execute(text("DELETE FROM filler")).close())

    assert log.stat().st_size == engine.KEPT_LOG_BYTES < grown


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("pragma", "expected"),
    [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 5000)],
)
def test_sqlite_is_durable_strict_and_patient(database, pragma, expected):
    def ask(session):
        return session.execute(text(f"PRAGMA {pragma}")).scalar_one()

    assert database.write(ask) == expected
    with database.read() as session:
        assert ask(session) == expected


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
def test_a_server_set_to_answer_before_it_is_durable_is_overruled(database, database_url):
    name = database.url.database
    database.write(
        lambda s: s.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off")) and None
    )

    later = Database(database_url)
    try:
        assert later.write(
            lambda s: s.execute(text("SHOW synchronous_commit")).scalar_one()
        ) == "on"  # fmt: skip
    finally:
        later.close()


@pytest.mark.parametrize(
    "setting", ["extra_float_digits = 0", "datestyle = 'SQL, DMY'", "client_encoding = 'latin1'"]
)
def test_a_server_set_to_send_values_otherwise_is_overruled(postgres, migrated_postgres, setting):
    """Scores came back with 15 digits, and were signed so; with the others requests failed."""
    made = make_experiment("實驗")
    with postgres.database(migrated_postgres) as name:
        with psycopg.connect(postgres.url(name)) as connection:
            connection.execute(f"ALTER DATABASE {name} SET {setting}")
        database = Database(postgres.url(name))
        try:
            database.write(lambda session: experiments.add(session, made))
            with database.read() as session:
                third = session.execute(text("SELECT 1 / CAST(3 AS double precision)"))
                assert third.scalar_one() == 1 / 3
                assert experiments.get(session, made.name) == made
        finally:
            database.close()


@pytest.fixture
def stranger(postgres):
    """The name of a role that owns nothing."""
    name = f"stranger_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.parametrize("is_migrated", [False, True])
def test_a_user_who_may_do_nothing_is_told_so(
    postgres, empty_postgres, stranger, is_migrated, tmp_path
):
    """Since version 15 only the owner of a PostgreSQL database may make tables in it."""
    if is_migrated:
        migrations.upgrade(postgres.url(empty_postgres))
    url = make_url(postgres.url(empty_postgres)).set(username=stranger)
    server = PodiumServer(tmp_path / "data", url.render_as_string(hide_password=False))
    began = time.monotonic()
    for words in (["serve", "--port", "0"], ["db", "upgrade"], ["competitions", "list"]):
        done = run_podium(
            words,
            env=server.environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "permission denied for" in done.stderr
        assert f"ALTER DATABASE {empty_postgres} OWNER TO {stranger}" in done.stderr
    assert time.monotonic() - began < 25  # it is not waited for


def test_a_user_without_the_tables_of_an_upgrade_by_another_user_is_told_so(
    postgres, migrated_postgres, stranger, tmp_path
):
    with (
        postgres.database(migrated_postgres) as name,
        psycopg.connect(postgres.url(name), autocommit=True) as owner,
    ):
        owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {stranger}")
        owner.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {stranger}")
        owner.execute(f"REVOKE ALL ON ended_login FROM {stranger}")
        url = make_url(postgres.url(name)).set(username=stranger)
        server = PodiumServer(tmp_path / "data", url.render_as_string(hide_password=False))
        for words in (["serve", "--port", "0"], ["keys", "list"]):
            done = run_podium(
                words,
                env=server.environment, capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            assert done.returncode == 1
            told = " ".join(done.stderr.split())
            assert "permission denied for table ended_login" in told
            assert "owner of the tables in it" in told
        owner.execute(f"DROP OWNED BY {stranger}")


@contextlib.contextmanager
def serving_with(postgres, template, role, data_dir):
    """A server whose database user is this role, and a connection of the database's owner."""
    with (
        postgres.database(template) as name,
        psycopg.connect(postgres.url(name), autocommit=True) as owner,
    ):
        owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
        owner.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}")
        url = make_url(postgres.url(name)).set(username=role)
        server = PodiumServer(data_dir, url.render_as_string(hide_password=False)).start()
        try:
            yield server, owner
        finally:
            server.stop()
            owner.execute(f"DROP OWNED BY {role}")


def test_a_user_who_loses_the_tables_is_told_so_until_they_are_back(
    postgres, migrated_postgres, stranger, tmp_path
):
    with (
        serving_with(postgres, migrated_postgres, stranger, tmp_path / "data") as (server, owner),
        server.client() as admin,
    ):
        owner.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {stranger}")
        ready, asked = admin.get("/readyz"), admin.get("/v1/experiments")
        owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {stranger}")
        after = admin.get("/v1/experiments")

    told = "The database refuses its user; try again."
    assert (ready.status_code, ready.json()["database"]) == (503, told)
    assert (asked.status_code, asked.json()["detail"]) == (503, told)
    assert after.status_code == 200


def test_a_database_without_a_connection_left_is_told_as_such(
    postgres, migrated_postgres, stranger, tmp_path
):
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{stranger}'"
    with (
        serving_with(postgres, migrated_postgres, stranger, tmp_path / "data") as (server, owner),
        server.client() as admin,
    ):
        assert admin.get("/v1/experiments").status_code == 200  # it knows the key
        owner.execute(f"ALTER ROLE {stranger} CONNECTION LIMIT 0")
        owner.execute(end)
        ready, asked = admin.get("/readyz"), admin.get("/v1/experiments")
        owner.execute(f"ALTER ROLE {stranger} CONNECTION LIMIT -1")
        after = admin.get("/v1/experiments")

    told = "The database has no connection left for Podium; try again."
    assert (ready.status_code, ready.json()["database"]) == (503, told)
    assert (asked.status_code, asked.json()["detail"]) == (503, told)
    assert after.status_code == 200


def test_the_short_name_of_postgresql_is_understood(database_url):
    database = Database(database_url.replace("postgresql://", "postgres://"))
    database.ping()
    database.close()


def test_a_reader_can_change_nothing(database):
    with (
        pytest.raises(Exception, match=r"(?i)read-?only"),
        database.read() as session,
    ):
        experiments.add(session, make_experiment("aide"))


def test_a_reader_sees_one_snapshot(database):
    with database.read() as session:
        assert experiments.list_page(session, limit=9) == []
        database.write(lambda s: experiments.add(s, make_experiment("aide")))

        assert experiments.list_page(session, limit=9) == []


def test_errors_do_not_show_what_was_stored(database):
    def add(session):
        session.execute(text("INSERT INTO nowhere VALUES (:secret)"), {"secret": "pod_run_abc"})

    with pytest.raises(Exception, match="nowhere") as caught:
        database.write(add)
    assert "pod_run_abc" not in str(caught.value)


def test_what_was_acknowledged_outlives_a_killed_process(database_url):
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS_WRITES, database_url],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    with process:
        acknowledged = [process.stdout.readline().strip() for _ in range(200)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]

    database = Database(database_url)
    with database.read() as session:
        kept = {each.name for each in experiments.list_page(session, limit=100_000)}
    database.close()
    assert process.returncode == -signal.SIGKILL
    assert len(acknowledged) >= 200
    assert set(acknowledged) <= kept
