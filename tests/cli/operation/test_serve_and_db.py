"""`podium serve` on what is in use, and `podium db`."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sqlite3
import subprocess
from pathlib import Path

import httpx
import pytest

from app.storage.database.revisions import known_revisions
from tests.cli.conftest import Command
from tests.factories import write_competition
from tests.forkserver import PodiumProcess, run_podium
from tests.server import PodiumServer


def test_the_schema_goes_up_and_down(podium: Command) -> None:
    for arguments in (["upgrade"], ["downgrade", "base"], ["upgrade"], ["check", "--json"]):
        done = podium("db", *arguments)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"differences": []}


def test_programs_read_which_schema_was_reached(podium: Command) -> None:
    newest = known_revisions()[-1]
    for arguments, revision in (
        (["upgrade", "--json"], newest),
        (["downgrade", "0002", "--json"], "0002"),
        (["downgrade", "--json", "-1"], "0001"),
        (["downgrade", "base", "--json"], None),
    ):
        done = podium("db", *arguments)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"revision": revision}


def test_a_schema_that_cannot_be_taken_back_is_told(podium: Command, tmp_path: Path) -> None:
    nothing = podium("db", "downgrade", "0001")
    podium("db", "upgrade")
    back = podium("db", "downgrade", "-1")
    unknown = podium("db", "downgrade", "9999")
    unnamed = podium("db", "downgrade", "")
    file = tmp_path / "data" / "podium.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9998'")
    newer = podium("db", "downgrade", "0001")

    assert re.fullmatch(r"the schema is at \d{4}\n", back.stdout)
    for done, told in (
        (nothing, "There is no Podium in the data directory"),
        (unknown, "Name an earlier revision"),
        (unnamed, "it names none. Name an earlier revision"),
        (newer, "the database has the schema 9998"),
    ):
        assert done.returncode == 1
        assert told in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


def test_a_second_server_on_the_same_data_is_refused(podium: Command, tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data").start()
    try:
        second = podium("serve", "--port", "0")
    finally:
        server.stop()

    assert second.returncode != 0
    assert "already runs" in second.stderr


def test_a_taken_port_is_told(podium: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = podium("serve", "--port", taken.getsockname()[1])

    assert done.returncode == 1
    assert "Choose another --port" in done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])
def test_a_start_that_cannot_listen_makes_no_directory(
    podium: Command, tmp_path: Path, host: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = podium("serve", "--host", host, "--port", taken.getsockname()[1])

    assert done.returncode == 1
    assert f"Cannot listen on {host}" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "words", ["serve --port 0", "worker", "import folder .", "restore .", "db upgrade"]
)
def test_a_queue_without_postgresql_is_refused_before_anything_is_made(
    tmp_path: Path, words: str
) -> None:
    """The store that a server made was another database's once PODIUM_DATABASE_URL was set."""
    folder = write_competition(tmp_path / "tiny")
    server = PodiumServer(tmp_path / "data", dispatch="queue")

    done = run_podium(
        words.split(), env=server.environment, cwd=folder, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert "set PODIUM_DATABASE_URL" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", ["backup copy", "verify", "gc", "db downgrade base", "keys list"])
def test_a_queue_without_postgresql_leaves_an_older_database_alone(
    podium: Command, tmp_path: Path, words: str
) -> None:
    """A backup without the rows that are in PostgreSQL, or files that only those rows name."""
    assert podium("db", "upgrade").returncode == 0
    file = tmp_path / "data" / "podium.db"
    before = file.read_bytes()
    server = PodiumServer(tmp_path / "data", dispatch="queue")

    done = run_podium(
        words.split(), env=server.environment, cwd=tmp_path, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert "set PODIUM_DATABASE_URL" in done.stderr
    assert file.read_bytes() == before
    assert not (tmp_path / "copy").exists()


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="there is no IPv6 here")
def test_an_address_of_ipv6_is_printed_as_urls_write_it(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data")
    words = ["serve", "--host", "::1", "--port", "0"]
    with PodiumProcess(
        words, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        said = next(line for line in process.stdout if line.startswith("Podium serves"))
        url = said.split()[3]
        try:
            assert url.startswith("http://[::1]:")
            assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
        finally:
            process.terminate()


@pytest.mark.parametrize("host", ["300.1.1.1", "192.0.2.1"])
def test_an_address_of_another_machine_is_told(podium: Command, host: str) -> None:
    done = podium("serve", "--host", host, "--port", 0)

    assert done.returncode == 1
    assert f"Cannot listen on {host}" in done.stderr
    assert "--host" in done.stderr
    assert "--port" not in done.stderr


@pytest.mark.parametrize(
    ("host", "told"),
    [("", "The host is empty"), ("\u202e%00", "this is no name of a host")],
    ids=["empty", "odd"],
)
def test_a_host_that_is_none_is_told(podium: Command, host: str, told: str) -> None:
    """The system takes an empty one for all addresses of the machine."""
    done = podium("serve", "--host", host, "--port", 0)

    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_number_that_is_no_port_is_refused(podium: Command) -> None:
    for port in (-1, 65536, 99_999_999):
        done = podium("serve", f"--port={port}")
        assert done.returncode == 2
        assert "Invalid value for '--port'" in done.stderr
        assert "65535" in done.stderr or port < 0


AWAY = "postgresql://podium:x@127.0.0.1:1/podium"


@pytest.mark.parametrize(
    "words", ["keys list", "db upgrade", "backup {}", "restore {}", "import folder {}", "worker"]
)
def test_a_command_that_cannot_begin_leaves_nothing_behind(tmp_path: Path, words: str) -> None:
    folder = write_competition(tmp_path / "tiny") if "import" in words else tmp_path / "backup"
    done = run_podium(
        words.format(folder).split(),
        env=PodiumServer(tmp_path / "data", AWAY).environment,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "backup").exists()


def test_a_server_that_waits_for_its_database_makes_no_directories(tmp_path: Path) -> None:
    server = PodiumProcess(
        ["serve", "--port", "0"],
        env=PodiumServer(tmp_path / "data", AWAY).environment,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stderr is not None
        assert "waiting for the database" in server.stderr.readline()
        assert not (tmp_path / "data").exists()
    finally:
        server.kill()
        server.communicate()
