"""Several workers on this machine: the gain by a second worker, and the cost of the queue."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks import queue
from benchmarks.load import Answer, send_many
from benchmarks.server import Server, set_up, submission
from tests.api.conftest import packed
from tests.factories import good_submission, write_competition
from tests.podium_worker import PodiumWorker
from tests.postgres import OwnServer
from tests.server import PodiumServer

HEAVY = 40
LIGHT = 1500
ALONE = 300
CLIENTS = 32
# About a quarter of a second of one core, in Python, so that nothing else of the machine counts.
HEAVY_METRIC = """
def score(answers, submission):
    total = 0
    for number in range(4_000_000):
        total += number & 7
    return float(abs(answers['target'] - submission['target']).max()) + 0.0 * total
"""


def main() -> None:
    postgres = OwnServer()
    try:
        print("Distributed: PostgreSQL, its disk synced, servers and workers on this one machine")
        heavy(postgres)
        queue.limit(postgres)
        for name, settings, workers in (
            ("embedded, SQLite", {}, 0),
            ("embedded, PostgreSQL", {}, 0),
            ("queue, 1 worker", {"dispatch": "queue"}, 1),
            ("queue, 2 workers", {"dispatch": "queue"}, 2),
        ):
            with served(postgres, sqlite="SQLite" in name, workers=workers, **settings) as server:
                light(name, server)
    finally:
        postgres.remove()


@contextlib.contextmanager
def served(
    postgres: OwnServer, *, sqlite: bool = False, workers: int, graders: int = 2, **settings: object
) -> Iterator[Server]:
    """A server with the benchmark's run, and workers with as many graders."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as home, contextlib.ExitStack() as on:
        url = "" if sqlite else postgres.url(on.enter_context(postgres.database()))
        settings = {"log_level": "warning", "graders": graders, **settings}
        server = PodiumServer(Path(home) / "data", url, **settings).start()
        on.callback(server.stop)
        for number in range(workers):
            worker = PodiumWorker(server, Path(home) / f"worker-{number}").start()
            on.callback(worker.stop)
        runs = set_up(server.port, server.key)
        data = Path(home) / "data"
        yield Server(
            server.port, server.process, lambda: server.start().process, server.key, runs,
            submission(), data,
        )  # fmt: skip


def heavy(postgres: OwnServer) -> None:
    """Throughput of one and of two workers with one grader each, on gradings that need a core."""
    speeds = []
    for workers in (1, 2):
        with served(postgres, workers=workers, graders=1, dispatch="queue") as server:
            speeds.append(HEAVY / seconds_for_heavy(server))
    print(
        f"  CPU-heavy: 1 worker {speeds[0]:.2f}/s, 2 workers {speeds[1]:.2f}/s: "
        f"{speeds[1] / speeds[0]:.2f} times as many"
    )


def seconds_for_heavy(server: Server) -> float:
    """From the first file sent to the last one graded; each worker has graded one before."""
    bearer = {"Authorization": f"Bearer {server.key}"}
    with (
        tempfile.TemporaryDirectory() as home,
        httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}", headers=bearer, timeout=60, trust_env=False
        ) as admin,
    ):
        folder = write_competition(
            Path(home) / "heavy", usage=None, metric="my_error", metric_py=HEAVY_METRIC
        )
        archive = {"archive": ("heavy.tar.gz", packed(folder))}
        admin.post("/v1/competitions", files=archive).raise_for_status()
        body = {"experiment": "bench", "competition": "heavy", "seed": 0}
        run = admin.post("/v1/runs", json=body).raise_for_status().json()["id"]

        def send(first: int, count: int) -> list[str]:
            return [
                admin.post(
                    f"/v1/runs/{run}/submissions",
                    content=good_submission(folder, shift=(first + n) / 1000),
                    headers={"Content-Type": "text/csv"},
                )
                .raise_for_status()
                .json()["id"]
                for n in range(count)
            ]

        settle(admin, run, len(send(0, 8)))
        started = time.perf_counter()
        send(8, HEAVY)
        settle(admin, run, 8 + HEAVY)
        return time.perf_counter() - started


def settle(admin: httpx.Client, run: str, count: int) -> None:
    while True:
        page = admin.get(f"/v1/runs/{run}/submissions", params={"limit": 1000}).json()["items"]
        graded = sum(each["state"] == "graded" for each in page)
        if graded == count:
            return
        time.sleep(0.1)


def light(name: str, server: Server) -> None:
    """Files of 12 kB: how many a second from sent to graded, and the wait of one that is alone."""
    waiting = "Prefer: wait=30\r\n"
    send_many(server, 100, 4, waiting)  # warm
    started = time.perf_counter()
    answers = send_many(server, LIGHT, CLIENTS, waiting)
    seconds = time.perf_counter() - started
    graded = sum(answer.status == 201 for answer in answers)
    alone = send_many(server, ALONE, 1, waiting)
    print(
        f"  {name:<21}: {graded / seconds:6.0f} sent and graded/s at {CLIENTS} clients that wait, "
        f"{waits(answers)}; one at a time: {waits(alone)}"
    )


def waits(answers: Sequence[Answer]) -> str:
    """From sent to graded: through the server, the queue, a grader, and back."""
    seconds = [answer.seconds for answer in answers]
    return f"median {1000 * median(seconds):.1f} ms, p99 {1000 * quantiles(seconds, n=100)[98]:.1f}"
