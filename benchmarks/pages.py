"""Pages: server time, queries and bytes; and what readers of pages cost those who submit."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import httpx
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from app.domain.states import RunState, SubmissionState
from app.main import create_app
from app.settings import Settings
from app.storage.database import migrations
from app.storage.database.database import Database
from app.storage.database.records import GradeRecord, RunRecord, SubmissionRecord, VersionRecord
from app.storage.queries import experiments, grades, runs, submissions
from benchmarks.http import CLIENTS, wait_until_settled
from benchmarks.in_process import serving
from benchmarks.load import send_many
from benchmarks.server import Server, running
from tests.storage.make import add_version, make_experiment, make_grade, make_run, make_submission

LISTED = (100, 20, 3)  # experiments, competitions, seeds
LARGE = ("large", 82, 5)
ROUNDS = 30
LOAD_ROUNDS = 5
SUBMISSIONS = 1500
PAGES_A_SECOND = 1
OPERATIONS_SECONDS = 5.0
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    first_pages()
    beside_submissions()


def first_pages() -> None:
    """The first page of 100 experiments and a heat map of 82 x 5, from a server in this process."""
    print(f"Pages: {LISTED[0]} experiments at {LISTED[1]} competitions, {LISTED[2]} seeds each")
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as directory:
        data = Path(directory)
        (data / "none").mkdir()
        fill(f"sqlite:///{data / 'podium.db'}")
        keys: list[str | None] = []
        app = create_app(Settings(data_dir=data, competitions_dir=data / "none"), keys.append)
        with serving(app) as client:
            client.headers["Authorization"] = f"Bearer {keys[0]}"
            pages = {
                "100 experiments": "/",
                "the same by any medal": "/?sort=any_medal",
                f"heat map of {LARGE[1]} x {LARGE[2]}": f"/experiments/{LARGE[0]}",
            }
            for name, path in pages.items():
                measure(client, name, path)


def measure(client: httpx.Client, name: str, path: str) -> None:
    assert client.get(path).status_code == 200  # templates and versions are read once
    counts = []
    for _ in range(3):  # a thread of the server may ask between; the least is the page's
        with counted_queries() as queries:
            answer = client.get(path)
        counts.append(len(queries))
    times, processor = [], time.process_time()
    for _ in range(ROUNDS):
        started = time.perf_counter()
        client.get(path)
        times.append(1000 * (time.perf_counter() - started))
    processor = 1000 * (time.process_time() - processor) / ROUNDS
    print(
        f"  {name}: median {median(times):.0f} ms of {ROUNDS}, greatest {max(times):.0f} ms, "
        f"{processor:.0f} ms of processor time, "
        f"{min(counts)} queries, {len(answer.content) / 1000:.0f} kB"
    )


@contextmanager
def counted_queries() -> Iterator[list[str]]:
    """The SELECTs of the time."""
    found: list[str] = []

    def note(connection, cursor, statement, *others) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            found.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield found
    event.remove(Engine, "before_cursor_execute", note)


def fill(url: str) -> None:
    """Experiments whose runs have a graded submission each."""
    migrations.upgrade(url)
    database = Database(url)
    chance = random.Random(1)
    slugs = [f"competition-{number:02}" for number in range(LARGE[1])]
    versions = [database.write(lambda s, slug=slug: add_version(s, slug)) for slug in slugs]
    wanted = [(f"experiment-{number:03}", *LISTED[1:]) for number in range(LISTED[0] - 1)]
    for number, (name, competitions, seeds) in enumerate([*wanted, LARGE]):
        made = NOW + timedelta(hours=number)
        database.write(
            lambda s, name=name, made=made: experiments.add(
                s, make_experiment(name, created_at=made)
            )
        )
        rows = [
            attempt(name, version, seed, chance)
            for version in versions[:competitions]
            for seed in range(seeds)
        ]
        database.write(lambda s, rows=rows: store(s, rows))
    database.close()


Row = tuple[RunRecord, SubmissionRecord, GradeRecord]


def attempt(name: str, version: VersionRecord, seed: int, chance: random.Random) -> Row:
    run = make_run(version, name, seed=seed, state=RunState.CLOSED,
                   usage={"seconds": 3600.0, "cost_usd": 2.5})  # fmt: skip
    sent = make_submission(run, state=SubmissionState.GRADED)
    medal = chance.choice(["gold", "silver", "bronze", None, None, None])
    grade = make_grade(sent, medal=medal, above_median=medal is not None, better=5, equal=1,
                       worse=94)  # fmt: skip
    return run, sent, grade


def store(session: Session, rows: list[Row]) -> None:
    for run, _, _ in rows:
        runs.add_run(session, run)
    submissions.add_submissions(session, [sent for _, sent, _ in rows])
    grades.add_grades(session, [grade for _, _, grade in rows])


def beside_submissions() -> None:
    """Submissions a second, by turns without readers and with a browser open on each page.

    What a browser asks for comes from a small client, because Chromium itself would take a
    processor: a page of each kind opened every second, the run's page by its stream of changes, and
    that of operations every five seconds. The client keeps its connections, as browsers do: to open
    one for each page would take processor time that is not the server's.
    """
    with running() as server:
        print(
            f"Submissions by {CLIENTS} clients, by turns without readers and with "
            f"a browser open on each page ({PAGES_A_SECOND} page opened a second besides)"
        )
        send_many(server, 300, 4, "Prefer: wait=30\r\n")  # warm
        for path in addresses(server):
            assert server.get(path).status_code == 200, path
        without, beside = [], []
        for _ in range(LOAD_ROUNDS):
            without.append(stored_a_second(server))
            with readers(server) as opened:
                beside.append(stored_a_second(server))
        ratios = [b / a for a, b in zip(without, beside, strict=True)]
        print(
            f"  without {median(without):.0f}/s, beside {median(beside):.0f}/s; median of "
            f"{LOAD_ROUNDS} ratios {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}); "
            f"{len(opened)} pages in the last round"
        )


def addresses(server: Server) -> list[str]:
    run = server.get(f"/v1/runs/{server.run}").json()
    return ["/", f"/experiments/{run['experiment']}", f"/runs/{server.run}", "/operations",
            f"/competitions/{run['competition']}"]  # fmt: skip


def stored_a_second(server: Server) -> float:
    started = time.perf_counter()
    answers = send_many(server, SUBMISSIONS, CLIENTS)
    seconds = time.perf_counter() - started
    assert all(answer.status in (201, 202) for answer in answers)
    wait_until_settled(server)
    return len(answers) / seconds


@contextmanager
def readers(server: Server) -> Iterator[list[str]]:
    """Pages are opened in turn until the block ends."""
    stopping = threading.Event()
    opened: list[str] = []
    paths = addresses(server)
    page = f"/runs/{server.run}"

    def follow() -> None:
        with server.client() as browser, server.stream(f"{page}/changes") as lines:
            for line in lines:
                if stopping.is_set():
                    return
                if line == "event: changed":
                    assert browser.get(page).status_code == 200
                    opened.append(page)

    def renew() -> None:
        with server.client() as browser:
            while not stopping.wait(OPERATIONS_SECONDS):
                assert browser.get("/operations").status_code == 200
                opened.append("/operations")

    def read() -> None:
        with server.client() as browser:
            while not stopping.wait(1 / PAGES_A_SECOND):
                path = paths[len(opened) % len(paths)]
                assert browser.get(path).status_code == 200
                opened.append(path)

    threads = [threading.Thread(target=each) for each in (read, follow, renew)]
    for thread in threads:
        thread.start()
    yield opened
    stopping.set()
    for thread in threads:
        thread.join()
