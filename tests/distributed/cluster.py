"""A small cluster of real processes: servers and workers that share PostgreSQL, S3, and no disk."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.api.conftest import packed
from tests.podium_worker import PodiumWorker
from tests.s3 import S3Server
from tests.server import PodiumServer

HEARTBEAT = 0.5
PATIENCE_SECONDS = 120
_numbers = itertools.count(1)
CLIENTS = 4


@dataclass
class Cluster:
    """Two servers, their database's URL, and the workers that a test starts."""

    servers: tuple[PodiumServer, PodiumServer]
    url: str
    home: Path
    workers: list[PodiumWorker] = field(default_factory=list)
    _connection: psycopg.Connection | None = None

    def worker(self, *options: str, **settings: Any) -> PodiumWorker:
        """One more worker, not started; ended with the test."""
        made = PodiumWorker(
            self.servers[0], self.home / f"worker-{next(_numbers)}", *options,
            **{"graders": 1, **settings},
        )  # fmt: skip
        self.workers.append(made)
        return made

    def clear(self) -> None:
        """End all workers, and leave nothing that one could find to grade."""
        for worker in self.workers:
            if hasattr(worker, "process"):
                worker.kill()
        self.workers.clear()
        for _ in range(10):
            # The servers go on reading, and of two that wait for each other PostgreSQL ends one.
            with contextlib.suppress(psycopg.errors.DeadlockDetected):
                self.query("TRUNCATE submission, procrastinate_jobs, procrastinate_workers CASCADE")
                return
        raise AssertionError("the tables cannot be emptied")

    def set_up(self, folder: Path) -> dict[str, Any]:
        """Import a competition by the first server; gives a run with its key."""
        with self.servers[0].client() as admin:
            archive = {"archive": ("a.tar.gz", packed(folder))}
            assert admin.post("/v1/competitions", files=archive).status_code in (200, 201)
            admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
            body = {"experiment": "e", "competition": folder.name, "feedback": "full"}
            answer = admin.post("/v1/runs", json={**body, "seed": next(_numbers)})
            assert answer.status_code == 201, answer.text
            run: dict[str, Any] = answer.json()
            return run

    def submit_all(self, run: dict[str, Any], bodies: list[bytes], first: int = 0) -> list[str]:
        """Send files to both servers by turns, each until it is acknowledged; gives their ids."""

        def send(number: int) -> str:
            return submit(self.servers[number % 2], run, first + number, bodies[number])

        with ThreadPoolExecutor(CLIENTS) as pool:
            return list(pool.map(send, range(len(bodies))))

    def settled(self, submissions: list[str]) -> list[dict[str, Any]]:
        """The submissions as they are once all are settled."""
        with self.servers[1].client() as admin:
            return [wait_until(admin, one, is_settled) for one in submissions]

    def grades(self, submissions: list[str]) -> dict[int, int]:
        """How many of these have how many grades, read from the database itself."""
        counted = self.query(
            "SELECT n, count(*) FROM (SELECT (SELECT count(*) FROM grade g "
            "WHERE g.submission_id = s.id) AS n FROM submission s WHERE s.id = ANY(%s)) AS counts "
            "GROUP BY n",
            submissions,
        )
        return dict(counted)

    def jobs(self) -> int:
        """How many jobs the queue holds, of any state."""
        return int(self.query("SELECT count(*) FROM procrastinate_jobs")[0][0])

    def query(self, statement: str, *values: Any) -> list[Any]:
        """The rows, read by a connection that is kept: PostgreSQL forks for each new one."""
        if self._connection is None:
            self._connection = psycopg.connect(self.url, autocommit=True)
        cursor = self._connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []

    def disconnect(self) -> None:
        """Close the connection, or clear away what is left of it after a crash."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextlib.contextmanager
def cluster(
    url: str, home: Path, s3: S3Server, *, starts: bool = True, **settings: Any
) -> Iterator[Cluster]:
    """Two servers that queue what they take in, on a database and a bucket of the test's own."""
    with contextlib.ExitStack() as stack:
        settings = {
            "dispatch": "queue",
            "heartbeat_seconds": HEARTBEAT,
            "blobs_url": f"s3://{s3.bucket()}/podium",
            **settings,
        }
        servers = []
        for name in ("first", "second"):
            server = PodiumServer(home / name, url, **settings)
            server.environment |= s3.environment
            servers.append(server)
            if starts:
                server.start()
                stack.callback(server.stop)
        servers[1].key = servers[0].key
        made = Cluster((servers[0], servers[1]), url, home)
        stack.callback(made.disconnect)
        stack.callback(made.clear)
        yield made


def submit(server: PodiumServer, run: dict[str, Any], number: int, body: bytes) -> str:
    """What a careful client does: the same key again until somebody answers."""
    headers = {"Content-Type": "text/csv", "Idempotency-Key": f"file-{number}"}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            with server.client(run["key"]) as agent:
                answer = agent.post(
                    f"/v1/runs/{run['id']}/submissions", content=body, headers=headers
                )
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code == 503:
            time.sleep(0.05)
            continue
        assert answer.status_code in (200, 201, 202), answer.text
        submission: str = answer.json()["id"]
        return submission
    raise AssertionError(f"file {number} was never acknowledged")


def is_settled(submission: dict[str, Any]) -> bool:
    return submission["state"] not in ("queued", "grading")


def is_grading(submission: dict[str, Any]) -> bool:
    return submission["state"] == "grading"


def wait_until(
    admin: httpx.Client, submission: str, there: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        answer = admin.get(f"/v1/submissions/{submission}")
        if answer.status_code == 200 and there(answer.json()):
            found: dict[str, Any] = answer.json()
            return found
        time.sleep(0.1)
    raise AssertionError(f"{submission} is stuck: {answer.text}")


def await_that(is_so: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
