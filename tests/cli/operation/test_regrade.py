"""`podium regrade` as an operator runs it, on the data directory of a server that is stopped."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.operation.grading_work import grade_or_wait
from app.services.regrades.start import start
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database import notify
from tests.api.conftest import packed
from tests.distributed.cluster import await_that, is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer

SLUG = "regraded"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> PodiumServer:
    """A server with two graded submissions and a second version with another board; stopped."""
    home = tmp_path_factory.mktemp("graded")
    found = PodiumServer(home / "data").start()
    folder = write_competition(home / SLUG)
    with found.client() as admin:
        send(admin, folder)
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        body = {"experiment": "e", "competition": SLUG, "seed": 0, "feedback": "full"}
        run = admin.post("/v1/runs", json=body).json()
        for shift in (0.12, 0.01):
            one = admin.post(
                f"/v1/runs/{run['id']}/submissions",
                content=good_submission(folder, shift=shift),
                headers={"Content-Type": "text/csv", "Authorization": f"Bearer {run['key']}"},
            ).json()
            wait_until(admin, one["id"], is_settled)
        write_competition(folder, leaderboard=tuple(0.001 * place for place in range(1, 13)))
        send(admin, folder)
    assert found.stop() == 0
    return found


@pytest.fixture
def server(graded: PodiumServer, tmp_path: Path) -> Iterator[PodiumServer]:
    """A stopped server with a copy of that one's data."""
    copy = PodiumServer(Path(shutil.copytree(graded.data_dir, tmp_path / "data")))
    copy.key = graded.key
    yield copy
    if copy.log.exists() and copy.process.poll() is None:
        copy.stop()


def send(admin: Any, folder: Path) -> None:
    archive = {"archive": ("a.tar.gz", packed(folder))}
    assert admin.post("/v1/competitions", files=archive).status_code == 201


def podium(server: PodiumServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_podium(
        ["regrade", SLUG, *arguments],
        env={**server.environment, "COLUMNS": "200"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_the_difference_comes_first_and_is_applied_with_a_reason(server: PodiumServer) -> None:
    dry = podium(server, "--to", "2", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "2 submissions of regraded, each graded anew under version 2" in dry.stdout
    assert "other medal 2 (won 0, lost 2)" in dry.stdout
    assert "any_medal" in dry.stdout
    assert "100.00" in dry.stdout
    assert dry.stderr == ""  # no progress bar outside a terminal

    shown = podium(server, "--to", "2")
    assert "podium regrade regraded --to 2 --apply --reason TEXT" in shown.stdout
    unsaid = podium(server, "--to", "2", "--apply")
    assert unsaid.returncode == 1
    assert "--apply needs --reason" in unsaid.stderr

    applied = podium(server, "--to", "2", "--apply", "--reason", "the board was wrong")
    assert applied.returncode == 0, applied.stderr
    ours = shown.stdout.split(":")[0]
    assert f"applied: results of regraded rest on {ours}" in applied.stdout
    server.start()
    with server.client() as admin:
        rates = admin.get("/v1/experiments/e/medal-rates").json()
        listed = admin.get(f"/v1/competitions/{SLUG}/regrades").json()["items"]
    assert [one["id"] for one in rates["regrades"]] == [ours]
    assert [one["state"] for one in listed] == ["cancelled", "applied"]
    assert listed[1]["reason"] == "the board was wrong"


def test_the_difference_says_what_is_before_and_after_and_who_has_no_rates(
    server: PodiumServer,
) -> None:
    server.start()
    with server.client() as admin:
        admin.post("/v1/experiments", json={"name": "waiting", "agent": "a", "model": "m"})
        body = {"experiment": "waiting", "competition": SLUG, "seed": 0}
        assert admin.post("/v1/runs", json=body).status_code == 201
    assert server.stop() == 0

    dry = podium(server, "--to", "2", "--dry-run")

    heads = [line for line in dry.stdout.splitlines() if line.startswith(("RUN", "SUBMISSION"))]
    finals = "FINAL SCORE BETTER MEDAL FINAL AFTER SCORE AFTER BETTER AFTER MEDAL AFTER"
    changes = "STATE SCORE BETTER MEDAL STATE AFTER SCORE AFTER BETTER AFTER MEDAL AFTER"
    assert [" ".join(line.split()) for line in heads] == [
        f"RUN EXPERIMENT SEED {finals}", f"SUBMISSION EXPERIMENT SEED {changes}",
    ]  # fmt: skip
    assert "0 experiments with the same rates" in dry.stdout
    assert "1 experiment without rates before and after: waiting" in dry.stdout


def test_a_server_that_runs_grades_for_the_command(server: PodiumServer) -> None:
    server.start()

    done = podium(server, "--json")

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["difference"]["submissions"]["equal"] == 2
    assert document["state"] == "ready"

    dry = json.loads(podium(server, "--to", "2", "--dry-run", "--json").stdout)
    applied = json.loads(podium(server, "--to", "2", "--apply", "--reason", "x", "--json").stdout)
    for told, state in ((dry, "cancelled"), (applied, "applied")):
        assert told["difference"]["submissions"]["medals_lost"] == 2
        assert told["progress"]["graded"] == 2
        with server.client() as admin:
            shown = admin.get(f"/v1/regrades/{told['id']}").json()
        for field in ("state", "reason", "applied_at", "cancelled_at", "progress"):
            assert told[field] == shown[field], field
        assert told["state"] == state


def test_an_interrupted_regrade_goes_on_although_more_was_settled(server: PodiumServer) -> None:
    settings = Settings(data_dir=server.data_dir)
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
        begun = start(context, SLUG, by=None)
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as database, database:
        last = "(SELECT max(submission_id) FROM regrade_outcome)"
        database.execute(f"DELETE FROM regrade_outcome WHERE submission_id = {last}")

    done = podium(server)

    assert done.returncode == 0, done.stderr
    assert f"{begun.id}: 2 submissions of regraded" in done.stdout


def test_verify_finds_a_grade_that_was_changed(server: PodiumServer) -> None:
    good = podium(server, "--verify")
    assert good.returncode == 0, good.stderr
    assert "2 submissions graded again, 2 equal to the last bit, 0 different" in good.stdout

    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as rows, rows:
        first = "SELECT submission_id, score FROM grade ORDER BY id LIMIT 1"
        one, score = rows.execute(first).fetchone()
        # The smallest change that there is: the last bit.
        values = (math.nextafter(score, 1.0), one)
        rows.execute("UPDATE grade SET score = ? WHERE submission_id = ?", values)
        changed = rows.total_changes
    rows.close()
    assert changed == 1

    bad = podium(server, "--verify")
    assert bad.returncode == 1
    assert "1 equal to the last bit, 1 different" in bad.stdout
    assert one in bad.stdout
    alone = podium(server, "--verify", "--submission", one, "--json")
    assert alone.returncode == 1
    assert json.loads(alone.stdout)["verification"]["different"] == 1


def test_what_does_not_go_together_is_refused(server: PodiumServer) -> None:
    for arguments, said in (
        (("--apply", "--dry-run", "--reason", "x"), "--apply goes with neither"),
        (("--verify", "--to", "2"), "without --to"),
        (("--reason", "x"), "--reason is for --apply"),
        (("--to", "7"), "has no version 7"),
    ):
        done = podium(server, *arguments)
        assert done.returncode == 1, arguments
        assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize("database_kind", ["postgresql"])  # SQLite has one server
def test_servers_do_not_take_the_files_of_a_command_that_grades(
    database_url: str, tmp_path: Path
) -> None:
    with grading_context(tmp_path, database_url) as context:

        def lives() -> bool:
            with context.database.read() as session:
                return notify.is_listening(session, context.instance)

        grade_or_wait(context, lambda: False, lambda _: await_that(lives, "no lock", 15))


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_looks_at_the_progress_take_a_tenth_of_the_time_at_most(
    database_url: str, tmp_path: Path
) -> None:
    """Of 200,000 files a look took 0.7 seconds, and the next one came after 0.3."""
    begun: list[float] = []

    def is_done() -> bool:
        begun.append(time.monotonic())
        time.sleep(0.1)
        return len(begun) == 3

    def grade(stop: Callable[[bool], bool]) -> None:
        while not stop(False):
            time.sleep(0.01)

    with grading_context(tmp_path, database_url) as context:
        grade_or_wait(context, is_done, grade)

    assert all(later - earlier > 1.0 for earlier, later in itertools.pairwise(begun))


@contextlib.contextmanager
def grading_context(home: Path, database_url: str) -> Iterator[Context]:
    """What a command grades with; the signals that it handles are restored."""
    before = {end: signal.getsignal(end) for end in (signal.SIGTERM, signal.SIGHUP)}
    context = open_context(
        Settings(data_dir=home / "data", database_url=database_url, graders=1),
        grades=None,
        validates=False,
    )
    try:
        yield context
    finally:
        context.close()
        for end, handler in before.items():
            signal.signal(end, handler)
