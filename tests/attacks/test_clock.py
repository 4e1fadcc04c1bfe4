"""The server's clock is set back: what happened before lies in the future now.

The test moves rows ahead, as if they had been written by a clock that was ahead. What single
services do then: `tests/services/test_clock.py`.
"""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, select, update

from app.storage.database.models import Disclosure, Submission
from app.storage.queries.ids import first_id
from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.server import PodiumServer

DAY = timedelta(days=1)
SUBMISSION, DISCLOSURE = Submission.__table__, Disclosure.__table__


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def microseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def move_ahead(server: PodiumServer, submission: str, by: timedelta) -> str:
    """Let a submission be of a later time, wherever it is named. Returns its new id."""
    engine = create_engine(f"sqlite:///{server.data_dir / 'podium.db'}")
    moved = first_id("sub", microseconds(datetime.now(UTC) + by)) + submission[-12:]
    with engine.begin() as connection:
        row = connection.execute(select(SUBMISSION).where(SUBMISSION.c.id == submission)).one()
        times = {"received_at": row.received_at + by, "settled_at": row.settled_at + by}
        of_submission = SUBMISSION.c.id == submission
        connection.execute(update(SUBMISSION).where(of_submission).values(times))
        ledger = DISCLOSURE.c.submission_id == submission
        connection.execute(update(DISCLOSURE).where(ledger).values(at=row.settled_at + by))
    engine.dispose()
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as database, database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            for _, column, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
                change = f"UPDATE {table} SET {column} = ? WHERE {column} = ?"
                database.execute(change, (moved, submission))
    return moved


def test_a_file_after_the_clock_was_set_back_is_the_last_and_all_outcomes_are_shown(
    podium: Podium, server: PodiumServer
) -> None:
    folder = podium.competition()
    run = podium.run(folder, "public")
    first = run.submit(good_submission(folder, shift=0.5)).json()
    assert first["grade"]["public_score"] == pytest.approx(0.5)
    server.stop()
    moved = move_ahead(server, first["id"], 40 * DAY)
    server.start()

    shown = run.client.get(f"/v1/submissions/{moved}").json()
    assert (shown["state"], shown["grade"]["public_score"]) == ("graded", pytest.approx(0.5))
    second = run.submit(good_submission(folder, shift=0.1)).json()
    assert second["grade"]["public_score"] == pytest.approx(0.1)
    listed = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    assert [one["id"] for one in listed] == [moved, second["id"]]
    closed = podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    (receipt,) = podium.admin.get(f"/v1/runs/{run.id}/receipts").json()["items"]
    assert receipt["submission"] == second["id"]
    stated = podium.admin.get(f"/v1/receipts/{receipt['id']}").json()["predicate"]
    assert stated["exposure"]["public_scores"] == 2
    assert datetime.fromisoformat(closed.json()["closed_at"]) > datetime.now(UTC) + 39 * DAY
    verified = run_podium(["verify"], env=server.environment, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout
