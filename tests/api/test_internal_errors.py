"""An error that nobody expected: the answer's id leads to the log, as do headers and counts."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import packed
from tests.factories import write_competition
from tests.server import PodiumServer


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[PodiumServer]:
    """A server with a competition whose row somebody changed so that no code expects it."""
    server = PodiumServer(tmp_path / "data").start()
    folder = write_competition(tmp_path / "tiny")
    with server.client() as admin:
        made = admin.post("/v1/competitions", files={"archive": ("a.tar.gz", packed(folder))})
        assert made.status_code == 201
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as database:
        database.execute("UPDATE competition_version SET lint = 'not JSON'")
        database.commit()
    yield server
    server.stop()


def test_its_id_is_that_of_the_log_and_the_connection_goes_on(damaged: PodiumServer) -> None:
    with damaged.client() as admin:
        named = {"X-Request-Id": "find-me-500"}
        answer = admin.get("/v1/competitions/tiny", headers=named)
        assert answer.status_code == 500
        assert answer.json()["request_id"] == "find-me-500"
        assert answer.headers["X-Request-Id"] == "find-me-500"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert admin.get("/v1/suites").status_code == 200

        other = admin.get("/v1/competitions/tiny").json()["request_id"]
        assert other not in {"-", "find-me-500"}
        counted = (
            'podium_requests_total{method="GET",route="/v1/competitions/{slug}",status="500"} 2'
        )
        assert counted in admin.get("/metrics").text

    lines = logged(damaged.log, "find-me-500", 2)
    assert [line["event"] for line in lines] == ["request failed", "request"]
    assert "Traceback" in json.dumps(lines[0])
    assert lines[1]["status"] == 500


def logged(log: Path, request_id: str, number: int) -> list[dict[str, Any]]:
    """So many lines of the log with this id; they may be written after the answer."""
    deadline = time.monotonic() + 30
    found: list[dict[str, Any]] = []
    while len(found) < number and time.monotonic() < deadline:
        lines = map(json.loads, log.read_text().rpartition("\n")[0].splitlines())
        found = [line for line in lines if line["request_id"] == request_id]
    return found
