"""A file whose grading kills the server, and a metric.py that forges replies, in a real server."""

import contextlib
import os
import re
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.api.conftest import packed
from tests.attacks.conftest import metric
from tests.attacks.test_hostile_metric import PATCHES, SEND, rewrites_medals
from tests.factories import good_submission, write_competition
from tests.graders.conftest import wait_until
from tests.server import PodiumServer


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def competition(server: PodiumServer, folder: Path, **options) -> dict[str, str]:
    write_competition(folder, **options)
    with server.client() as admin:
        archive = {"archive": ("a.tar.gz", packed(folder))}
        answer = admin.post("/v1/competitions", files=archive)
        assert answer.status_code == 201, answer.text
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        body = {"experiment": "e", "competition": folder.name, "seed": 0, "feedback": "full"}
        return admin.post("/v1/runs", json=body).json()


def submit(server: PodiumServer, run: dict[str, str], data: bytes, wait: int = 0) -> dict:
    headers = {"Authorization": f"Bearer {run['key']}", "Content-Type": "text/csv"}
    headers |= {"Prefer": f"wait={wait}"} if wait else {}
    with server.client() as client:
        url = f"/v1/runs/{run['id']}/submissions"
        return client.post(url, content=data, headers=headers, timeout=60).json()


def faults_of(server: PodiumServer, submission: str) -> list[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as database:
        query = "SELECT kind, place FROM fault WHERE submission_id = ? ORDER BY id"
        return database.execute(query, (submission,)).fetchall()


def state_of(server: PodiumServer, submission: str) -> tuple[str, int]:
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as database:
        query = "SELECT state, attempts FROM submission WHERE id = ?"
        return database.execute(query, (submission,)).fetchone()


# It sleeps at one file only: the import lets it score two, which would take 8 seconds.
SLEEPS = metric(
    "if (submission['target'] == 4321.0).any():\n    time.sleep(4)\nreturn 1.0", "import time"
)


def slow_submission(folder: Path) -> bytes:
    """A valid file at which the metric sleeps."""
    return re.sub(rb"r1,.*", b"r1,4321", good_submission(folder), count=1)


def test_after_two_deaths_of_the_server_a_file_is_failed_and_no_other_is(server, tmp_path):
    """As if grading the file killed the server each time: it is found, alone, and given up."""
    slow = competition(server, tmp_path / "slow", metric_py=SLEEPS, leaderboard=None, usage=None)
    good = competition(server, tmp_path / "good")
    deadly = submit(server, slow, slow_submission(tmp_path / "slow"))["id"]
    wait_until(lambda: (server.data_dir / "grading" / deadly).exists())
    others = [
        submit(server, good, good_submission(tmp_path / "good", shift=0.07))["id"] for _ in range(5)
    ]
    for death in (1, 2):
        wait_until(lambda: (server.data_dir / "grading" / deadly).exists())
        time.sleep(0.3)
        server.kill()
        server.start()
        assert len(faults_of(server, deadly)) == death
    wait_until(lambda: state_of(server, deadly)[0] == "failed")
    assert faults_of(server, deadly) == [
        ("server_died", "death 1 of a server while it graded this file"),
        ("server_died", "death 2 of a server while it graded this file"),
    ]
    wait_until(lambda: {state_of(server, other) for other in others} == {("graded", 1)})
    assert not any(faults_of(server, other) for other in others)


def test_a_file_during_whose_grading_a_server_died_is_graded_alone(tmp_path):
    """Even if graders are free: should it kill the server again, nothing else looks guilty."""
    server = PodiumServer(tmp_path / "data", graders=2).start()
    try:
        run = competition(server, tmp_path / "slow", metric_py=SLEEPS, leaderboard=None, usage=None)
        suspect = submit(server, run, slow_submission(tmp_path / "slow"))["id"]
        notes = server.data_dir / "grading"
        wait_until(lambda: (notes / suspect).exists())
        server.kill()
        server.start()
        wait_until(lambda: (notes / suspect).exists())
        other = submit(server, run, slow_submission(tmp_path / "slow"))["id"]
        while state_of(server, suspect)[0] == "grading":
            found = {path.name for path in notes.iterdir()}
            assert found <= {suspect} or state_of(server, suspect)[0] != "grading"
            time.sleep(0.1)
        wait_until(lambda: state_of(server, other) == ("graded", 1))
        assert state_of(server, suspect) == ("graded", 2)
    finally:
        server.kill()


def test_a_clean_stop_takes_the_attempt_back(server, tmp_path):
    run = competition(server, tmp_path / "slow", metric_py=SLEEPS, leaderboard=None, usage=None)
    submission = submit(server, run, slow_submission(tmp_path / "slow"))["id"]
    for _ in range(3):
        wait_until(lambda: (server.data_dir / "grading" / submission).exists())
        # Less than the grace that graders have to finish what they began.
        os.kill(server.process.pid, signal.SIGTERM)
        server.process.wait(60)
        if state_of(server, submission)[0] == "graded":
            break
        assert state_of(server, submission) == ("queued", 0)
        server.start()
    assert faults_of(server, submission) == []


def test_forged_replies_change_nobody_elses_medals_and_the_server_lives(server, tmp_path):
    good = competition(server, tmp_path / "good")
    bronze = good_submission(tmp_path / "good", shift=0.07)
    expected = submit(server, good, bronze, wait=30)["grade"]
    assert expected["medal"] == "silver"
    calm = "if len(submission) and (submission['target'] > 1e6).any():\n    send(DATA)\nreturn 1.0"
    deadly = r'b"\x80\x04}N" + b"\x85" * 900_000 + b"Ns."'
    for number, data in enumerate((repr(rewrites_medals()), deadly)):
        text = metric(calm, f"{SEND}\nDATA = {data}")
        folder = tmp_path / f"evil{number}"
        evil = competition(server, folder, metric_py=text, leaderboard=None, usage=None)
        far = good_submission(folder, shift=1e9)
        assert submit(server, evil, far, wait=30)["state"] == "failed"
        assert submit(server, good, bronze, wait=30)["grade"]["medal"] == "silver"
    assert server.process.poll() is None
    server.kill()
    server.start()
    assert submit(server, good, bronze, wait=30)["grade"]["score"] == expected["score"]


def test_an_import_that_patches_the_grader_does_not_stop_later_imports(server, tmp_path):
    write_competition(
        tmp_path / "evil", metric_py=metric("return 1.0", PATCHES), leaderboard=None, usage=None
    )
    with server.client() as admin:
        evil = {"archive": ("a.tar.gz", packed(tmp_path / "evil"))}
        refused = admin.post("/v1/competitions", files=evil)
    assert refused.status_code == 422, refused.text
    (problem,) = refused.json()["problems"]
    assert (problem["file"], problem["message"].partition(":")[0]) == ("metric.py", "crashed")
    competition(server, tmp_path / "good")
    with server.client() as client:
        ready = client.get("/readyz").json()
    assert ready["status"] == "ready"
    assert ready["isolation"]["limits"] is True
