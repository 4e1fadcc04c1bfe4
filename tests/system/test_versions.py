"""Servers that start together, before their database, or beside a newer Podium."""

from __future__ import annotations

import contextlib
import signal
import threading
from pathlib import Path

import psycopg
import pytest

from tests.api.conftest import Podium
from tests.crashable import crashable_postgres
from tests.distributed.cluster import await_that
from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.postgres import OwnServer, Postgres
from tests.server import PodiumServer

NEWER = """
ALTER TABLE submission ADD COLUMN mood TEXT;
ALTER TABLE run ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;
CREATE TABLE of_the_future (id INTEGER PRIMARY KEY);
UPDATE alembic_version SET version_num = '9999';
"""


def test_servers_that_start_at_once_on_an_empty_database_agree(
    tmp_path: Path, postgres: Postgres
) -> None:
    write_competition(tmp_path / "bundled" / "tiny")
    with postgres.database() as name, contextlib.ExitStack() as stack:
        settings = {
            "graders": 1, "competitions_dir": tmp_path / "bundled",
            "blobs_url": (tmp_path / "blobs").as_uri(),
        }  # fmt: skip
        servers = [PodiumServer(tmp_path / each, postgres.url(name), **settings) for each in "ab"]
        starts = [threading.Thread(target=server.start) for server in servers]
        for start in starts:
            start.start()
        for start, server in zip(starts, servers, strict=True):
            start.join()
            stack.callback(server.stop)
        (key,) = [server.key for server in servers if server.key]
        clients = [stack.enter_context(server.client(key)) for server in servers]
        listed = [client.get("/v1/competitions").json() for client in clients]
        with psycopg.connect(postgres.url(name)) as connection:
            keys = connection.execute("SELECT count(*) FROM api_key").fetchone()
            versions = connection.execute("SELECT slug, number FROM competition_version").fetchall()

    assert keys == (1,)
    assert versions == [("tiny", 1)]
    assert [[each["slug"] for each in found["items"]] for found in listed] == [["tiny"]] * 2


def test_a_server_serves_on_when_a_newer_podium_migrates_and_does_not_start_again(
    tmp_path: Path, postgres: Postgres, migrated_postgres: str
) -> None:
    folder = write_competition(tmp_path / "tiny")
    with postgres.database(migrated_postgres) as name, contextlib.ExitStack() as stack:
        server = PodiumServer(tmp_path / "data", postgres.url(name), graders=1).start()
        try:
            podium = Podium(server, tmp_path, stack)
            assert podium.send_folder(folder).status_code == 201
            run = podium.run(folder)
            before = run.submit(good_submission(folder)).json()
            with psycopg.connect(postgres.url(name)) as connection:
                connection.execute(NEWER)
            ready = podium.client().get("/readyz").json()
            after = run.submit(good_submission(folder)).json()
            other = podium.run(folder)
        finally:
            assert server.stop() == 0
        again = run_podium(
            ["serve", "--port", "0"],
            env=server.environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        checked = run_podium(
            ["keys", "list"],
            env=server.environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    assert ready["status"] == "ready", ready
    assert (before["state"], after["state"]) == ("graded", "graded")
    assert other.id
    for refused in (again, checked):
        assert refused.returncode == 1
        told = " ".join(refused.stderr.split())
        assert "migrated by a newer Podium" in told
        assert "9999" in told
        assert "podium db downgrade" in told
        assert "Traceback" not in told


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:///missing/podium.db", "is not there: make it, or correct the path"),
        ("sqlite+aiosqlite:////tmp/podium.db", "not 'sqlite+aiosqlite'"),
        ("sqlite:////tmp/podium.db?timeout=hidden", "an option in it has a value"),
        (
            "postgresql://me:hidden@127.0.0.1:1/x?schema=public",
            'invalid connection option "schema"',
        ),
    ],
)
def test_a_database_url_that_no_driver_takes_is_told_without_its_password(
    tmp_path: Path, url: str, words: str
) -> None:
    environment = PodiumServer(tmp_path / "data", url).environment
    done = run_podium(
        ["db", "upgrade"],
        env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path,
    )  # fmt: skip

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert words in " ".join(done.stderr.split())
    assert "hidden" not in done.stderr


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://me:hidden@host/x", "SQLite or PostgreSQL, not 'mysql'"),
        ("hidden", "it is not a URL"),
        ("sqlite://", "SQLite needs a file"),
        ("postgresql://me:hidden@127.0.0.1:1/x\n", "a line feed at its end"),
        ("postgresql://me:hidden@127.0.0.1:1/x", "connection to server at"),
    ],
)
def test_a_wrong_database_url_is_told_without_its_password(
    tmp_path: Path, url: str, words: str
) -> None:
    environment = PodiumServer(tmp_path / "data", url).environment
    done = run_podium(
        ["keys", "list"],
        env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    told = " ".join(done.stderr.split())

    assert done.returncode == 1
    assert words in told
    assert "PODIUM_DATABASE_URL" in told
    assert "hidden" not in told
    assert "Traceback" not in told


METRICS_KEY = "a-key-for-prometheus"


@pytest.fixture
def own_postgres():
    with crashable_postgres() as server:
        yield server


def test_a_server_waits_for_its_database_and_says_when_it_is_away(
    tmp_path: Path, own_postgres: OwnServer
) -> None:
    with own_postgres.database() as name, contextlib.ExitStack() as stack:
        own_postgres.stop()
        server = PodiumServer(
            tmp_path / "data", own_postgres.url(name), graders=1, metrics_key=METRICS_KEY
        )
        starting = threading.Thread(target=server.start)
        starting.start()
        await_that(
            lambda: server.log.exists() and "waiting for the database" in server.log.read_text(),
            "it does not wait",
        )
        own_postgres.start()
        starting.join()
        stack.callback(server.stop)
        waited = server.log.read_text().count("waiting for the database")
        client = stack.enter_context(server.client())
        before = client.get("/readyz").json()
        own_postgres.stop(signal.SIGQUIT)
        await_that(
            lambda: client.get("/readyz").json()["listener"] != "ok", "its listener seems to hear"
        )
        gone = client.get("/readyz")
        metrics = client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_KEY}"})
        own_postgres.start()
        await_that(lambda: client.get("/readyz").status_code == 200, "it does not come back")
        counted = client.get("/metrics").text

    assert waited == 1
    assert {before[part] for part in ("database", "storage", "graders", "listener")} == {"ok"}
    assert gone.status_code == 503
    assert "away" in gone.json()["database"]
    assert "PostgreSQL" in gone.json()["listener"]
    assert gone.json()["graders"] == "ok"
    assert metrics.status_code == 200
    assert "podium_database_up 0.0" in metrics.text
    assert "podium_database_up 1.0" in counted
    assert 'podium_submissions_open{size="small",state="queued"} 0.0' in counted
