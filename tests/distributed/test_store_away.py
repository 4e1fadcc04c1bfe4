"""The S3 server is killed under load: each acknowledged submission has exactly one grade, right.

It stays away for 20 s, or for as many as PODIUM_TEST_STORE_AWAY_SECONDS says.
"""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.distributed.cluster import Cluster, await_that, cluster
from tests.distributed.judge import Judge
from tests.factories import good_submission
from tests.postgres import Postgres
from tests.s3 import S3Server
from tests.server import PodiumServer

AWAY_SECONDS = float(os.environ.get("PODIUM_TEST_STORE_AWAY_SECONDS", "20"))
CLIENTS = 3
AROUND = 10  # acknowledged before it goes away, and after it came back


@pytest.fixture
def stored_elsewhere(
    postgres: Postgres, migrated_postgres: str, own_s3: S3Server, tmp_path: Path
) -> Iterator[Cluster]:
    """Two servers whose S3 store a test may kill."""
    with (
        postgres.database(migrated_postgres) as name,
        cluster(postgres.url(name), tmp_path, own_s3) as made,
    ):
        yield made


class Load:
    """Clients that send one file after another, each until it is acknowledged."""

    def __init__(self, made: Cluster, run: dict[str, Any], folder: Path) -> None:
        self.sent: dict[int, str] = {}
        self.statuses: Counter[int] = Counter()
        self._run = run
        self._folder = folder
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, args=(made.servers[n % 2],)) for n in range(CLIENTS)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self, server: PodiumServer) -> None:
        with server.client(self._run["key"]) as agent:
            while not self._stop.is_set():
                number = next(self._numbers)
                body = file_of(self._folder, number)
                headers = {"Content-Type": "text/csv", "Idempotency-Key": str(number)}
                while not self._stop.is_set():
                    answer = agent.post(
                        f"/v1/runs/{self._run['id']}/submissions", content=body, headers=headers
                    )
                    self.statuses[answer.status_code] += 1
                    if answer.status_code == 503:
                        time.sleep(0.5)
                        continue
                    self.sent[number] = answer.json()["id"]
                    time.sleep(0.05)
                    break


def file_of(folder: Path, number: int) -> bytes:
    return good_submission(folder, shift=0.001 * (number + 1))


def test_a_store_that_is_away_under_load_loses_nothing(
    stored_elsewhere: Cluster, own_s3: S3Server, judge: Judge, slow: Path
) -> None:
    run = stored_elsewhere.set_up(slow)
    workers = [stored_elsewhere.worker().start() for _ in range(2)]
    load = Load(stored_elsewhere, run, slow)
    try:
        await_that(lambda: len(load.sent) >= AROUND, "nothing is acknowledged", 120)
        own_s3.stop(signal.SIGKILL)
        gone = time.monotonic()
        with stored_elsewhere.servers[1].client() as admin:
            not_ready = admin.get("/readyz")
        await_that(lambda: load.statuses[503] > 0, "no request was refused", 120)
        time.sleep(max(0.0, gone + AWAY_SECONDS - time.monotonic()))
        away, before = time.monotonic() - gone, len(load.sent)
        own_s3.start()
        await_that(lambda: len(load.sent) >= before + AROUND, "it does not go on", 120)
    finally:
        load.end()
    numbers = sorted(load.sent)
    files = [file_of(slow, number) for number in numbers]

    judge.assert_right(stored_elsewhere, [load.sent[number] for number in numbers], files)
    judge.say(f"{away:.1f} s without the store; {load.statuses[503]} times 503")
    assert set(load.statuses) <= {200, 201, 202, 503}
    assert not_ready.status_code == 503
    assert "s3://" in not_ready.json()["storage"]
    assert stored_elsewhere.query("SELECT count(*) FROM fault") == [(0,)]
    assert stored_elsewhere.query("SELECT max(attempts) FROM submission") == [(1,)]
    assert [worker.stop() for worker in workers] == [0, 0]
