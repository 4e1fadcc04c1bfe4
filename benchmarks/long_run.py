"""One run with 4,000 submissions beside a new one: submitting, the ledger, a page, the first event.

`python -m benchmarks long_run [--submissions 4000]`. The run's keys ask, under the policy `public`.
The rows are written into the database at once; both runs are asked in turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import timedelta
from statistics import median

import httpx
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database.database import Database
from app.storage.database.models import Grade, Submission
from app.storage.queries import exposure, grades, runs, submissions
from benchmarks.load import another
from benchmarks.server import Server, running
from tests.storage.make import NOON, make_grade, make_submission

TURNS = 50
GRADER = {"podium_version": "0", "environment": "0", "metric": "accuracy_score"}
LIMITS = {"submissions_total": 1_000_000, "submissions_per_day": 1_000_000}


def main(*arguments: str) -> None:
    """Fill one of two runs, and ask both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks long_run", description=__doc__)
    parser.add_argument("--submissions", type=int, default=4_000)
    count = parser.parse_args(arguments).submissions
    with running(log_level="error") as server:
        new, long = add_run(server, 1001), add_run(server, 1002)
        database = Database(f"sqlite:///{server.data / 'podium.db'}")
        fill(database, long[0], count)
        database.close()
        times: dict[str, dict[str, list[float]]] = {}
        for turn in range(TURNS):
            for name, (run, key) in (("new", new), ("long", long)):
                with client(server, key) as asking:
                    for what, ask in QUESTIONS.items():
                        began = time.perf_counter()
                        ask(asking, run, another(server.body, 2 * turn + (name == "long")))
                        spent = 1000 * (time.perf_counter() - began)
                        times.setdefault(what, {}).setdefault(name, []).append(spent)
    print(f"medians of {TURNS}, milliseconds; a new run, and one with {count:,} submissions more")
    for what, by_run in times.items():
        short, past = median(by_run["new"]), median(by_run["long"])
        print(f"  {what:20} {short:7.1f} {past:7.1f}   ratio {past / short:.2f}")


def add_run(server: Server, seed: int) -> tuple[str, str]:
    """A run under the policy `public`: its id and key."""
    body = {
        "experiment": "bench", "competition": "benchmark", "seed": seed, "feedback": "public",
        "limits": LIMITS,
    }  # fmt: skip
    with server.client() as admin:
        made = admin.post("/v1/runs", json=body).raise_for_status().json()
    return made["id"], made["key"]


def client(server: Server, key: str) -> httpx.Client:
    """A client with a run's key."""
    return httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}", headers={"Authorization": f"Bearer {key}"},
        trust_env=False, timeout=60,
    )  # fmt: skip


def fill(database: Database, run_id: str, count: int) -> None:
    """Give a run so many graded submissions, each disclosed to its agent."""
    with database.read() as session:
        run = runs.get_run(session, run_id)
    assert run is not None
    added = [
        make_submission(
            run, received_at=NOON + timedelta(seconds=number), state=SubmissionState.GRADED,
            settled_at=NOON + timedelta(seconds=number),
        )
        for number in range(count)
    ]  # fmt: skip
    graded = [make_grade(one, public_score=0.5, grader=GRADER) for one in added]

    def write(session: Session) -> None:
        submissions.add_submissions(session, added)
        grades.add_grades(session, graded)
        of_run = select(Submission.id).where(Submission.run_id == run_id)
        kept = select(Grade.id, Grade.submission_id).where(Grade.submission_id.in_(of_run))
        for grade_id, submission_id in session.execute(kept).all():
            exposure.record(session, run_id, "public_score", submission_id, grade_id, NOON)

    database.write(write)


def submit(asking: httpx.Client, run: str, body: bytes) -> None:
    headers = {"Content-Type": "text/csv", "Prefer": "wait=30"}
    sent = asking.post(f"/v1/runs/{run}/submissions", content=body, headers=headers)
    assert sent.raise_for_status().json()["state"] == "graded", sent.text


def read_ledger(asking: httpx.Client, run: str, _: bytes) -> None:
    asking.get(f"/v1/runs/{run}/exposure", params={"limit": 100}).raise_for_status()


def read_page(asking: httpx.Client, run: str, _: bytes) -> None:
    asking.get(f"/v1/runs/{run}/submissions", params={"limit": 100}).raise_for_status()


def read_event(asking: httpx.Client, run: str, _: bytes) -> None:
    with asking.stream("GET", f"/v1/runs/{run}/events") as answer:
        next(answer.iter_lines())


QUESTIONS: dict[str, Callable[[httpx.Client, str, bytes], None]] = {
    "submit and wait": submit,
    "ledger, 100 entries": read_ledger,
    "submissions, 100": read_page,
    "first event": read_event,
}
