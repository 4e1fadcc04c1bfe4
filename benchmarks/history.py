"""Results and submissions of a server with a long history.

`python -m benchmarks history [--experiments 400] [--seeds 8] [--submissions 4] [--beside DIR]`: so
many experiments at the 75 competitions of MLE-bench, so many seeds each, so many submissions of a
run; 960,000 in all if nothing is said. The rows are written into the database at once. `--beside`
measures the checkout of another version in DIR as well, in the same run.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from sqlalchemy import BigInteger, Connection, case, create_engine, insert, literal, select
from sqlalchemy.sql.expression import func

from app.bundled import bundled
from app.domain.suites import parse_suites
from app.storage.database.models import (
    CompetitionVersion,
    Disclosure,
    Experiment,
    Grade,
    Run,
    Submission,
)
from benchmarks.load import send_many
from benchmarks.server import Server, running
from benchmarks.statistics import NOON

SUITE = "mle-bench"
FOLDERS = bundled("competitions")
ALONE = 200
AGAIN = 5
AT_ONCE = 4
SETTLING_SECONDS = 5.0  # enough after a start to read all results ahead
QUESTIONS = {
    "board, a page of 100": f"/v1/medal-rates?suite={SUITE}&limit=100",
    "board by complexity": f"/v1/medal-rates?suite={SUITE}&limit=100&group_by=complexity",
    "items": f"/v1/suites/{SUITE}/items",
    "one experiment": f"/v1/experiments/agent-0000/medal-rates?suite={SUITE}",
}


def main(*arguments: str) -> None:
    """Fill a server, and ask."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks history", description=__doc__)
    parser.add_argument("--experiments", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--submissions", type=int, default=4)
    parser.add_argument("--beside", type=Path, default=None)
    chosen = parser.parse_args(arguments)
    for name, code in (("there", chosen.beside), ("here", None)):
        if name == "here" or code is not None:
            print(f"{name}:")
            measure(code, chosen.experiments, chosen.seeds, chosen.submissions)


def measure(code: Path | None, experiments: int, seeds: int, sent: int) -> None:
    """Submissions and questions of one version's server, before and after it is filled."""
    with running(code, competitions_dir=FOLDERS, log_level="error") as server:
        time.sleep(SETTLING_SECONDS)
        started = processor_seconds(server.pid)
        send_many(server, ALONE, 1, "Prefer: wait=30\r\n")  # warm
        print(f"  submitting, empty: {alone(server)}")
        began = time.perf_counter()
        runs = fill(server.data / "podium.db", experiments, seeds, sent)
        print(
            f"  {experiments} experiments, {runs:,} runs, {runs * sent:,} submissions "
            f"(written in {time.perf_counter() - began:.0f} s)"
        )
        # The rows came behind the server's back; one that starts with them reads them ahead.
        for name, path in QUESTIONS.items():
            ask(server, name, path)
        server.restart()
        time.sleep(SETTLING_SECONDS)
        took = processor_seconds(server.pid)
        print(f"  started again, with {took:.2f} s of processor time (empty {started:.2f} s):")
        for name, path in QUESTIONS.items():
            ask(server, name, path)
        print(f"  submitting, filled: {alone(server)}")
        print(f"  submitting while {AT_ONCE} ask for boards: {during(server)}")


def ask(server: Server, name: str, path: str) -> None:
    """Print the first time of a question, and the middle of the others."""
    times, processor = [], []
    size = 0
    for _ in range(1 + AGAIN):
        before, began = processor_seconds(server.pid), time.perf_counter()
        answer = server.get(path)
        times.append(time.perf_counter() - began)
        processor.append(processor_seconds(server.pid) - before)
        size = len(answer.raise_for_status().content)
    print(
        f"  {name:24} first {times[0]:6.3f} s ({processor[0]:.2f} s of processor time), "
        f"again {median(times[1:]):6.3f} s ({median(processor[1:]):.2f} s), {size / 1e6:.2f} MB"
    )


def during(server: Server) -> str:
    """The latency of submissions while others ask for boards that nobody has asked for."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = [
            pool.submit(server.get, f"/v1/medal-rates?suite={SUITE}{part}&group_by=category")
            for part in ("", "-low", "-medium", "-high")
        ]
        answers = alone(server)
        for one in asked:
            one.result().raise_for_status()
    return answers


def alone(server: Server) -> str:
    """The latency of submissions, one after another, to the grade."""
    answers = send_many(server, ALONE, 1, "Prefer: wait=30\r\n")
    assert all(each.status == 201 and each.state == "graded" for each in answers)
    milliseconds = sorted(1000 * each.seconds for each in answers)
    return f"median {median(milliseconds):.1f} ms, most {milliseconds[-1]:.0f} ms"


def processor_seconds(pid: int) -> float:
    """The processor time that a process has taken, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill(database: Path, experiments: int, seeds: int, sent: int) -> int:
    """Write the history into a server's SQLite database; the number of its runs."""
    suite = parse_suites((FOLDERS / "suites.toml").read_text("utf-8"))[SUITE]
    engine = create_engine(f"sqlite:///{database}", connect_args={"timeout": 60})
    with engine.begin() as connection:
        runs = write_runs(connection, suite, experiments, seeds)
        write_submissions(connection, sent)
    engine.dispose()
    return runs


def write_runs(connection: Connection, suite: tuple[str, ...], experiments: int, seeds: int) -> int:
    """Closed runs of every experiment at every competition, for every seed."""
    version = CompetitionVersion.__table__
    known = connection.execute(select(version.c.slug, version.c.id).order_by(version.c.number))
    versions = {row.slug: row.id for row in known}
    count = 0
    for number in range(experiments):
        name = f"agent-{number:04}"
        connection.execute(
            insert(Experiment.__table__),
            {"name": name, "agent": name, "model": "m", "notes": "", "created_at": NOON},
        )
        rows = [
            {"id": f"run_0h{number:04}{at:03}{seed:03}", "experiment": name, "competition": slug,
             "version_id": versions[slug], "seed": seed, "feedback": "validity", "limits": {},
             "state": "closed", "created_at": NOON, "closed_at": NOON, "started_at": NOON}
            for at, slug in enumerate(suite) for seed in range(seeds)
        ]  # fmt: skip
        connection.execute(insert(Run.__table__), rows)
        count += len(rows)
    return count


def write_submissions(connection: Connection, sent: int) -> None:
    """Graded submissions of every such run, each disclosed to its agent."""
    run, submission, grade = Run.__table__, Submission.__table__, Grade.__table__
    ours = run.c.id.like("run\\_0h%", escape="\\") & (run.c.closed_at.is_not(None))
    for number in range(sent):
        values = {
            "id": literal("sub_0h") + func.substr(run.c.id, 7) + f"{number:03}",
            "run_id": run.c.id, "version_id": run.c.version_id, "state": literal("graded"),
            "message": literal(""), "bytes": literal(1000), "sha256": literal("0" * 64),
            "received_at": run.c.created_at, "settled_at": run.c.created_at,
            "run_seconds": literal(3600.0 * number), "warnings": literal("[]"),
            "attempts": literal(1),
        }  # fmt: skip
        connection.execute(
            insert(submission).from_select(list(values), select(*values.values()).where(ours))
        )
    # Numbers that look random and are the same each time; better experiments win more.
    number = func.substr(submission.c.id, 7).cast(BigInteger)
    ability = func.substr(submission.c.id, 7, 4).cast(BigInteger) % 30
    lot = (number * 48_271 + submission.c.version_id * 7_919) % 97
    medal = case(
        (lot < ability / 3, "gold"), (lot < ability / 2, "silver"), (lot < ability + 9, "bronze"),
        else_=None,
    )  # fmt: skip
    graded = {
        "submission_id": submission.c.id, "version_id": submission.c.version_id,
        "score": lot * 1.0, "above_median": lot < 60, "medal": medal,
        "grader": literal("{}"), "graded_at": submission.c.received_at,
        "better": lot, "equal": literal(1), "worse": 1000 - lot, "teams": literal(1001),
    }  # fmt: skip
    written = submission.c.id.like("sub\\_0h%", escape="\\")
    connection.execute(
        insert(grade).from_select(list(graded), select(*graded.values()).where(written))
    )
    told = {
        "run_id": submission.c.run_id, "kind": literal("validation"),
        "submission_id": submission.c.id, "at": submission.c.received_at,
    }  # fmt: skip
    connection.execute(
        insert(Disclosure.__table__).from_select(list(told), select(*told.values()).where(written))
    )
