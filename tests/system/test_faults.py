"""Failures outside of Podium, over HTTP: the answer names them, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.api.conftest import WAIT, Podium, Run, packed
from tests.crashable import crashable_postgres
from tests.distributed.cluster import await_that, is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer

# A metric of the competition's own, harmless when it is imported and switched on by the file.
SWITCH = "int(submission['target'].iloc[0])"
HOSTILE = f"""
import os

def score(answers, submission):
    print("x" * 1000)
    what = {SWITCH}
    if what == 101:
        raise ValueError(str(answers['target'].tolist()))
    if what == 102:
        while True:
            pass
    if what == 103:
        hoard = [bytearray(1 << 26) for _ in range(10_000)]
    if what == 104:
        os._exit(0)
    if what == 105:
        raise SystemExit
    if what == 106:
        return float("nan")
    return float(abs(answers['target'] - submission['target']).max())
"""


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Callable[..., PodiumServer]]:
    """Starts a server with settings of the test's own."""
    with contextlib.ExitStack() as stack:

        def start(data: Path | None = None, url: str = "", **settings: Any) -> PodiumServer:
            server = PodiumServer(data or tmp_path / "data", url, **settings).start()
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture(scope="module")
def metric_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """A server for metrics that misbehave, each in a competition of its own."""
    data = tmp_path_factory.mktemp("metrics") / "data"
    server = PodiumServer(data, grading_seconds=3, grader_memory_mb=512).start()
    yield server
    server.stop()


def run_on(server: PodiumServer, folder: Path, stack: contextlib.ExitStack) -> Run:
    podium = Podium(server, folder.parent, stack)
    assert podium.send_folder(folder).status_code in (200, 201)
    return podium.run(folder, feedback="full", limits={"submissions_total": 1})


@pytest.mark.parametrize("what", [101, 102, 103, 104, 105, 106])
def test_a_hostile_metric_fails_the_grading_and_costs_the_agent_nothing(
    metric_server: PodiumServer, tmp_path: Path, what: int
) -> None:
    folder = write_competition(tmp_path / f"hostile-{what}", metric="my_error", metric_py=HOSTILE)
    server, before = metric_server, len(metric_server.log.read_text())
    with contextlib.ExitStack() as stack:
        run = run_on(server, folder, stack)
        lines = good_submission(folder).decode().splitlines()
        lines[1] = f"r1,{what}"

        failed = run.submit("\n".join(lines).encode()).json()
        graded = run.submit(good_submission(folder)).json()
        log = server.log.read_text()[before:]
        answers = (folder / "private" / "answers.csv").read_text().splitlines()[1:]

    assert failed["state"] == "failed"
    assert failed["problem"]["type"] == "/problems/grading-fault"
    assert failed["grade"] is None
    assert (graded["state"], graded["grade"]["score"]) == ("graded", 0.0)
    assert not any(line.split(",")[1] in log for line in answers)
    assert log.count("grading fault") == 3


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    own_server: Callable[..., PodiumServer], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    folder = write_competition(tmp_path / "tiny", rows=200)
    try:
        server = own_server(disk / "data")
        with contextlib.ExitStack() as stack:
            podium = Podium(server, tmp_path, stack)
            assert podium.send_folder(folder).status_code == 201
            run = podium.run(folder)
            good = good_submission(folder)
            first = run.submit(good)
            big = run.submit(good + b"x" * (40 << 20))
            (disk / "ballast").write_bytes(b"")
            with contextlib.suppress(OSError), (disk / "ballast").open("wb") as ballast:
                while True:
                    ballast.write(b"\0" * 65536)
            full = run.submit(good + b"\n")
            (disk / "ballast").unlink()
            again = run.submit(good + b"\n")
            listed = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        uploads = list((disk / "data" / "blobs" / "uploads").iterdir())
        assert server.stop() == 0
    finally:
        subprocess.run(["umount", "-l", disk], check=True)

    assert first.json()["state"] == "graded"
    assert big.status_code == 507
    assert big.json()["type"] == "/problems/storage-full"
    assert full.status_code == 507
    assert again.json()["state"] == "graded"
    assert [s["id"] for s in listed] == [first.json()["id"], again.json()["id"]]
    assert uploads == []


def test_a_locked_database_is_waited_for(
    own_server: Callable[..., PodiumServer], tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny")
    server = own_server()
    with contextlib.ExitStack() as stack:
        run = run_on(server, folder, stack)
        lock = sqlite3.connect(
            server.data_dir / "podium.db", isolation_level=None, check_same_thread=False
        )
        lock.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(2.0, lambda: (lock.execute("ROLLBACK"), lock.close()))
        release.start()
        started = time.monotonic()
        answer = run.submit(good_submission(folder))
        release.join()

    assert answer.json()["state"] == "graded"
    assert time.monotonic() - started >= 1.5


def test_a_postgresql_killed_under_load_loses_nothing(
    own_server: Callable[..., PodiumServer], tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny")
    with crashable_postgres() as postgres, postgres.database() as name:
        server = own_server(url=postgres.url(name), database_patience_seconds=1)
        with contextlib.ExitStack() as stack:
            podium = Podium(server, tmp_path, stack)
            assert podium.send_folder(folder).status_code == 201
            run = podium.run(folder, feedback="full")
            acknowledged: dict[int, str] = {}
            statuses: set[int] = set()
            stop = threading.Event()
            senders = [
                threading.Thread(
                    target=keep_sending, args=(run, folder, first, acknowledged, statuses, stop)
                )
                for first in (1, 2)
            ]
            for sender in senders:
                sender.start()
            await_that(lambda: len(acknowledged) > 10, "nothing is acknowledged")
            postgres.stop(signal.SIGKILL)
            await_that(lambda: 503 in statuses, "nobody is told that the database is away")
            not_ready = podium.client().get("/readyz")
            before = len(acknowledged)
            postgres.start()
            await_that(lambda: len(acknowledged) > before + 10, "it does not come back")
            stop.set()
            for sender in senders:
                sender.join()
            settled = {
                number: wait_until_settled(podium, one) for number, one in acknowledged.items()
            }
            undisturbed = podium.run(folder, feedback="full")
            expected = {
                number: undisturbed.submit(shifted(folder, number)).json()["grade"]["score"]
                for number in (min(settled), max(settled))
            }
            with psycopg.connect(postgres.url(name)) as connection:
                grades = connection.execute(
                    "SELECT count(*), count(DISTINCT g.submission_id) FROM grade g "
                    "JOIN submission s ON s.id = g.submission_id WHERE s.run_id = %s",
                    (run.id,),
                ).fetchone()
        server.stop()

    assert statuses <= {200, 201, 202, 503}
    assert {each["state"] for each in settled.values()} == {"graded"}
    # One more may have been stored whose acknowledgement nobody got.
    assert grades is not None
    assert grades[0] == grades[1] >= len(settled)
    assert {n: settled[n]["grade"]["score"] for n in expected} == expected
    assert not_ready.status_code == 503
    assert "away" in not_ready.json()["database"]


def shifted(folder: Path, number: int) -> bytes:
    return good_submission(folder, shift=number / 1000)


def keep_sending(
    run: Run, folder: Path, first: int, acknowledged: dict[int, str],
    statuses: set[int], stop: threading.Event,
) -> None:  # fmt: skip
    """Send every second file, from the `first` on, each until it is acknowledged."""
    number = first
    with httpx.Client(
        base_url=run.client.base_url,
        headers=run.client.headers,
        timeout=60,
        trust_env=False,
        verify=False,
    ) as agent:
        while not stop.is_set():
            answer = agent.post(
                f"/v1/runs/{run.id}/submissions",
                content=shifted(folder, number),
                headers={**WAIT, "Idempotency-Key": str(number)},
            )
            statuses.add(answer.status_code)
            if answer.status_code == 503:
                assert int(answer.headers["Retry-After"]) > 0
                time.sleep(0.05)
                continue
            acknowledged[number] = answer.json()["id"]
            number += 2


def wait_until_settled(podium: Podium, submission: str) -> dict[str, Any]:
    return wait_until(podium.admin, submission, is_settled)


def test_an_import_that_is_broken_off_leaves_no_version(podium: Podium, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "cut")
    body = packed(folder)

    answer = podium.admin.post(
        "/v1/competitions", files={"archive": ("cut.tar.gz", body[: len(body) // 2])}
    )

    assert answer.status_code == 422
    assert podium.admin.get("/v1/competitions/cut").status_code == 404
    assert list((podium.server.data_dir / "tmp").iterdir()) == []
