"""A small cluster of real processes: servers and workers on one PostgreSQL and the same files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.api.conftest import packed
from tests.server import PodiumServer
from tests.worker import PodiumWorker, share_files

HEARTBEAT = 0.5
PATIENCE_SECONDS = 120
CLIENTS = 4


@dataclass
class Cluster:
    """Two servers, their database's URL, and the workers that a test starts."""

    servers: tuple[PodiumServer, PodiumServer]
    url: str
    home: Path
    stack: contextlib.ExitStack
    workers: int = 0

    def worker(self, *options: str, **settings: Any) -> PodiumWorker:
        """One more worker, not started; ended with the test."""
        self.workers += 1
        made = PodiumWorker(
            self.servers[0], self.home / f"worker-{self.workers}", *options,
            **{"graders": 1, **settings},
        )  # fmt: skip
        self.stack.callback(lambda: made.kill() if hasattr(made, "process") else None)
        return made

    def set_up(self, folder: Path) -> dict[str, Any]:
        """Import a competition by the first server; gives a run with its key."""
        with self.servers[0].client() as admin:
            archive = {"archive": ("a.tar.gz", packed(folder))}
            assert admin.post("/v1/competitions", files=archive).status_code == 201
            admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
            body = {"experiment": "e", "competition": folder.name, "seed": 0, "feedback": "full"}
            run: dict[str, Any] = admin.post("/v1/runs", json=body).json()
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

    def grades(self) -> dict[int, int]:
        """How many submissions have how many grades, read from the database itself."""
        counted = self.query(
            "SELECT n, count(*) FROM (SELECT (SELECT count(*) FROM grade g "
            "WHERE g.submission_id = s.id) AS n FROM submission s) AS counts GROUP BY n"
        )
        return dict(counted)

    def jobs(self) -> int:
        """How many jobs the queue holds, of any state."""
        return int(self.query("SELECT count(*) FROM procrastinate_jobs")[0][0])

    def query(self, statement: str, *values: Any) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement, values or None).fetchall()


@contextlib.contextmanager
def cluster(url: str, home: Path, **settings: Any) -> Iterator[Cluster]:
    """Two servers that queue what they take in, on a database of the test's own."""
    with contextlib.ExitStack() as stack:
        settings = {"dispatch": "queue", "heartbeat_seconds": HEARTBEAT, **settings}
        share_files(home / "first", home / "second")
        servers = []
        for name in ("first", "second"):
            servers.append(PodiumServer(home / name, url, **settings).start())
            stack.callback(servers[-1].stop)
        servers[1].key = servers[0].key
        yield Cluster((servers[0], servers[1]), url, home, stack)


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
        time.sleep(0.02)
    raise AssertionError(f"{submission} is stuck: {answer.text}")


def await_that(is_so: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
