"""Bits that flip in a SQLite file where no check of its pages looks: in the values of its rows."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.attacks.test_damaged_disk import refusal
from tests.factories import good_submission
from tests.server import PodiumServer

TEXT_OF_30 = 2 * 30 + 13  # the kind that SQLite notes of a text of 30 bytes; one less is bytes


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def make_bytes_of_the_last_id(database: Path, index: str) -> None:
    """Flip the bit of an index that says whether its last entry is a text."""
    with contextlib.closing(sqlite3.connect(database)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root, last = opened.execute(
            "SELECT rootpage, (SELECT max(id) FROM submission) FROM sqlite_master WHERE name = ?",
            (index,),
        ).fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
    data = bytearray(database.read_bytes())
    head = data.index(last.encode(), (root - 1) * size, root * size) - 2
    assert data[head] == TEXT_OF_30
    data[head] ^= 1
    database.write_bytes(data)


def test_an_id_that_is_no_text_is_told(podium: Podium) -> None:
    folder = podium.competition()
    podium.run(folder).submit(good_submission(folder))
    podium.server.stop()
    database = podium.server.data_dir / "podium.db"
    make_bytes_of_the_last_id(database, "sqlite_autoindex_submission_1")

    said = refusal(podium.server)

    assert "The database is damaged: an id in the table submission is no text" in said
    assert "podium restore" in said


@pytest.mark.parametrize("value", ["2392ce3ac707be68v7c096a6e52ce62f", b"\xff\xfe"])
@pytest.mark.parametrize(
    "name", ["store-identity", "database-identity", "login-secret", "url-secret"]
)
def test_a_secret_that_is_none_is_told(podium: Podium, name: str, value: str | bytes) -> None:
    podium.server.stop()
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        changed = opened.execute("UPDATE secret SET value = ? WHERE name = ?", (value, name))
        assert changed.rowcount == 1

    said = refusal(podium.server)

    assert f"the value of '{name}' in the table secret is not in hex" in said


def test_a_damaged_file_that_waits_keeps_no_other_from_being_graded(podium: Podium) -> None:
    folder = podium.competition()
    sent = podium.run(folder).submit(good_submission(folder)).json()
    other = podium.run(folder)
    podium.server.kill()
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("DELETE FROM grade WHERE submission_id = ?", (sent["id"],))
        opened.execute(
            "UPDATE submission SET state = 'queued', received_at = '2026-1\u00a01-27 19:45:29'"
            " WHERE id = ?",
            (sent["id"],),
        )
    podium.server.start()

    assert other.submit(good_submission(folder)).json()["state"] == "graded"


def test_readyz_says_that_a_table_is_missing(podium: Podium) -> None:
    """It was 500, and so was not told from a server that has a defect."""
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("DROP TABLE submission")

    answer = podium.client().get("/readyz")

    assert answer.status_code == 503
    said = answer.json()
    assert said["status"] == "not_ready"
    assert "a table or column is missing" in said["database"]
    assert (said["storage"], said["graders"]) == ("ok", "ok")
    assert "no such table: submission" in podium.server.log.read_text()


def test_metrics_say_that_a_table_is_missing(podium: Podium) -> None:
    """They were 500, without the numbers of the process that somebody looks for just then."""
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("DROP TABLE submission")

    answers = [podium.admin.get("/metrics") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert "podium_database_up 0.0" in answers[-1].text
    assert "podium_submissions_queued NaN" in answers[-1].text
    assert "process_resident_memory_bytes" in answers[-1].text
    logged = podium.server.log.read_text()
    assert logged.count("no such table: submission") == 1
    assert "Traceback" not in logged


def test_a_run_is_closed_although_the_log_is_damaged(podium: Podium) -> None:
    """It was closed too, but answered with 500, and so was each close after it."""
    folder = podium.competition()
    first, second = podium.run(folder), podium.run(folder)
    closing = {"state": "closed"}
    podium.admin.patch(f"/v1/runs/{first.id}", json=closing).raise_for_status()
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute(
            "UPDATE log_entry SET number = number + 4096"
            " WHERE number = (SELECT max(number) FROM log_entry)"
        )

    closed = podium.admin.patch(f"/v1/runs/{second.id}", json=closing)

    assert closed.status_code == 200, closed.text
    assert closed.json()["state"] == "closed"
    assert podium.admin.get(f"/v1/runs/{second.id}/receipts").json()["items"] == []
    assert "cannot issue the receipt of a run: is the public log damaged" in (
        podium.server.log.read_text()
    )


def test_readyz_says_that_an_older_schema_is_to_be_upgraded(podium: Podium) -> None:
    """A table that it lacks is no damage: what brings it is not a backup but a migration."""
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("UPDATE alembic_version SET version_num = '0006'")
        opened.execute("DROP TABLE submission")

    answer = podium.client().get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["database"] == "the schema is older than this: run `podium db upgrade`"
