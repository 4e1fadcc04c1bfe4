"""A hostile metric.py behind the queue: a worker grades it, and is lost to nobody by it.

A worker has the lifecycle, the graders and the walls of a server that grades by itself, of which
`test_hostile_metric.py` and `test_walls.py` try all. What is its own is here: claims and outcomes
go through PostgreSQL, other files follow in the same worker, and its death would cost attempts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.attacks.conftest import metric
from tests.attacks.test_hostile_metric import GOLD, SCORED, SEND
from tests.attacks.test_other_user import processes
from tests.attacks.test_server_deaths import competition, submit
from tests.factories import good_submission
from tests.graders.conftest import wait_until
from tests.podium_worker import PodiumWorker
from tests.server import PodiumServer

FORGES, SENDS_AHEAD, LEAVES_PROCESSES, KILLS, HANGS = range(1, 6)
SCALE = 10_000_000  # beyond every process id, which is what is left of a number
BODY = f"""
what, process = divmod(int(submission["target"].iloc[0]), {SCALE})
if what == {FORGES}:
    send({GOLD!r})
    time.sleep(60)
if what == {SENDS_AHEAD}:
    for data in ({SCORED!r}, {SCORED!r}, {GOLD!r}):
        send(data)
    time.sleep(60)
if what == {LEAVES_PROCESSES}:
    for _ in range(5):
        _thread.start_new_thread(time.sleep, (3600,))
        try:
            if os.fork() == 0:
                os.setsid()
                time.sleep(3600)
        except OSError:
            pass
    return 0.25
if what == {KILLS}:
    return float(sum(is_refused(each) for each in (process, os.getppid())))
if what == {HANGS}:
    time.sleep(3600)
return 0.0
"""
BEFORE = f"""{SEND}
import _thread, signal

def is_refused(process):
    try:
        os.kill(process, signal.SIGKILL)
    except PermissionError:
        return True
    return False
"""


@pytest.fixture
def server(postgres: Any, migrated_postgres: str, tmp_path: Path) -> Iterator[PodiumServer]:
    with postgres.emptied(migrated_postgres) as name:
        started = PodiumServer(
            tmp_path / "data",
            postgres.url(name),
            dispatch="queue",
            grading_attempts=1,
            run_failures=2,
        ).start()
        yield started
        started.stop()


@pytest.fixture
def worker(server: PodiumServer, tmp_path: Path) -> Iterator[PodiumWorker]:
    started = PodiumWorker(server, tmp_path / "worker", graders=1).start()
    yield started
    assert started.stop() == 0


def asking(what: int, process: int) -> bytes:
    """A valid file that lets the metric do this."""
    rows = "".join(f"r{row},{what * SCALE + process}\n" for row in range(1, 21))
    return f"id,target\n{rows}".encode()


def test_what_a_metric_does_in_a_worker_changes_nobody_elses_grade(
    server: PodiumServer, worker: PodiumWorker, tmp_path: Path
) -> None:
    good = competition(server, tmp_path / "good")
    evil = competition(
        server, tmp_path / "evil", metric_py=metric(BODY, BEFORE), leaderboard=None, usage=None
    )
    body = good_submission(tmp_path / "good", shift=0.07)
    root = worker.process.pid

    def others_grade() -> tuple[float, str]:
        grade = submit(server, good, body, wait=30)["grade"]
        return round(grade["score"], 9), grade["medal"]

    assert submit(server, evil, asking(0, 0), wait=30)["grade"]["score"] == 0.0
    expected, before = others_grade(), len(processes(root))
    assert expected == (0.07, "silver")
    found: dict[int, Any] = {}
    for what in (FORGES, SENDS_AHEAD, LEAVES_PROCESSES, KILLS):
        found[what] = submit(server, evil, asking(what, root), wait=30)
        assert others_grade() == expected, what

    assert found[FORGES]["state"] == "failed"
    scores = [found[what]["grade"]["score"] for what in (SENDS_AHEAD, LEAVES_PROCESSES, KILLS)]
    assert scores == [0.5, 0.25, 2.0]  # both processes refused to be killed
    assert worker.process.poll() is None
    wait_until(lambda: len(processes(root)) <= before)
    with server.client() as admin:
        faults = admin.get("/v1/faults").json()["items"]
        exposure = admin.get(f"/v1/runs/{evil['id']}/exposure").json()["totals"]
    assert [(one["kind"], one["attempt"]) for one in faults] == [("crashed", 1)]
    assert (exposure["failures"], exposure["private_scores"]) == (1, 4)
    # A second failure is the last that this run may have here.
    assert submit(server, evil, asking(FORGES, root + 1), wait=30)["state"] == "failed"
    refused = submit(server, evil, asking(0, 1), wait=30)
    assert (refused["status"], refused["type"]) == (429, "/problems/too-many-failures")
    assert others_grade() == expected


def test_files_at_which_a_metric_hangs_leave_a_worker_places_for_others(
    server: PodiumServer, tmp_path: Path
) -> None:
    """They took all that it claims: no other competition was graded until their time was over."""
    evil = competition(
        server, tmp_path / "evil", metric_py=metric(BODY, BEFORE), leaderboard=None, usage=None
    )
    good = competition(server, tmp_path / "good")
    held = [submit(server, evil, asking(HANGS, number))["id"] for number in range(2)]
    with server.client() as admin:
        body = {"experiment": "e", "competition": "evil", "feedback": "full"}
        for seed in range(1, 13):
            run = admin.post("/v1/runs", json={**body, "seed": seed}).json()
            held.append(submit(server, run, asking(HANGS, seed + 1))["id"])
        worker = PodiumWorker(server, tmp_path / "worker", graders=1, drain_seconds=1).start()
        try:
            wait_until(lambda: state_of(admin, held[0]) == "grading")
            shifts = (0.07, 0.08, 0.06)
            bodies = [good_submission(tmp_path / "good", shift=shift) for shift in shifts]
            found = [submit(server, good, body, wait=30)["grade"]["score"] for body in bodies]
            assert [round(score, 9) for score in found] == [*shifts]
            assert {state_of(admin, one) for one in held} == {"queued", "grading"}
        finally:
            worker.kill()


def state_of(admin: httpx.Client, submission: str) -> str:
    found: str = admin.get(f"/v1/submissions/{submission}").json()["state"]
    return found
