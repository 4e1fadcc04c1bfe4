"""The server is killed in the middle of its work: nothing that was acknowledged is lost."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app.storage.database.database import Database
from tests.api.conftest import packed
from tests.distributed.cluster import is_settled, submit, wait_until
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer

CLIENTS = 8
SUBMISSIONS = 100
KILLS = 5


@pytest.fixture
def crashing_server(
    database_kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[PodiumServer]:
    with contextlib.ExitStack() as stack:
        url = ""
        if database_kind == "postgresql":
            postgres = request.getfixturevalue("postgres")
            migrated = request.getfixturevalue("migrated_postgres")
            url = postgres.url(stack.enter_context(postgres.database(migrated)))
        server = PodiumServer(tmp_path / "data", url).start()
        yield server
        server.stop()


def test_every_acknowledged_submission_gets_exactly_one_grade(
    crashing_server: PodiumServer, tmp_path: Path
) -> None:
    server = crashing_server
    folder = write_competition(tmp_path / "crash", rows=500)
    run = set_up(server, folder)
    bodies = [good_submission(folder, shift=0.001 * (n + 1)) for n in range(SUBMISSIONS)]
    killing = threading.Thread(target=kill_five_times, args=(server,))
    killing.start()
    with ThreadPoolExecutor(CLIENTS) as clients:
        sent = list(clients.map(lambda n: send_on(server, run, n, bodies[n]), range(SUBMISSIONS)))
    killing.join()

    with server.client() as admin:
        settled = {one: wait_until(admin, one, is_settled) for one in sent}
        listed = all_submissions(admin, run["id"])

    assert len(set(sent)) == SUBMISSIONS
    assert {s["id"] for s in listed} == set(sent)
    for number, submission_id in enumerate(sent):
        submission = settled[submission_id]
        assert submission["state"] == "graded"
        # What an uninterrupted run gives for this file: every prediction is off by the shift.
        assert submission["grade"]["score"] == pytest.approx(0.001 * (number + 1), rel=1e-9)
    assert grades_per_submission(server) == {1: SUBMISSIONS}


def set_up(server: PodiumServer, folder: Path) -> dict[str, Any]:
    with server.client() as admin:
        archive = {"archive": ("a.tar.gz", packed(folder))}
        assert admin.post("/v1/competitions", files=archive).status_code == 201
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        body = {"experiment": "e", "competition": folder.name, "seed": 0, "feedback": "full"}
        run: dict[str, Any] = admin.post("/v1/runs", json=body).json()
        return run


def kill_five_times(server: PodiumServer) -> None:
    chance = random.Random(5)
    for _ in range(KILLS):
        # A file during whose grading the server dies twice is `failed`, so the files of the last
        # death, which are graded first, have to be graded before the next: a busy machine is slow.
        done = number_of_grades(server)
        deadline = time.monotonic() + 30
        while number_of_grades(server) < done + 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(chance.uniform(0.0, 0.5))
        server.kill()
        server.start()


def send_on(server: PodiumServer, run: dict[str, Any], number: int, body: bytes) -> str:
    submission = submit(server, run, number, body)
    time.sleep(0.4)  # spread over the kills
    return submission


def all_submissions(admin: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    page = admin.get(f"/v1/runs/{run_id}/submissions", params={"limit": 1000}).json()
    assert page["next_cursor"] is None
    items: list[dict[str, Any]] = page["items"]
    return items


def number_of_grades(server: PodiumServer) -> int:
    return sum(number * count for number, count in grades_per_submission(server).items())


def grades_per_submission(server: PodiumServer) -> dict[int, int]:
    """How many submissions have how many grades, read from the database itself."""
    url = server.environment["PODIUM_DATABASE_URL"] or f"sqlite:///{server.data_dir}/podium.db"
    counting = text(
        "SELECT n, COUNT(*) AS submissions FROM "
        "(SELECT COUNT(*) AS n FROM grade GROUP BY submission_id) AS counted GROUP BY n"
    )
    database = Database(url)
    try:
        with database.read() as session:
            return {row.n: row.submissions for row in session.execute(counting)}
    finally:
        database.close()
