"""A backup of a Podium at work, brought back on the same kind of machine and on the other."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.services.operations.backup import back_up
from app.services.operations.backup_format import verified
from app.services.operations.restore import restore
from app.services.operations.restore_rows import NotEmpty
from app.settings import Settings
from tests.api.conftest import Podium, Run
from tests.distributed.cluster import is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.podium_worker import PodiumWorker
from tests.postgres import Postgres
from tests.s3 import S3Server
from tests.server import PodiumServer

Place = Callable[[str, str], PodiumServer]
BEFORE, LATE = 12, 3  # submissions acknowledged before the backup begins, and during it
OTHER = {"machine": "cluster", "cluster": "machine"}
# Long enough that some are queued and one is at work when the backup is made.
SLOW = """
import time

def score(answers, submission):
    time.sleep(0.1)
    return float(abs(answers["target"] - submission["target"]).max())
"""


@pytest.fixture
def place(postgres: Postgres, s3: S3Server, tmp_path: Path) -> Iterator[Place]:
    """Makes an empty Podium: on one machine, or with PostgreSQL, S3, and workers that grade."""
    with contextlib.ExitStack() as stack:

        def make(kind: str, name: str) -> PodiumServer:
            if kind == "machine":
                return PodiumServer(tmp_path / name, graders=1)
            url = postgres.url(stack.enter_context(postgres.database()))
            blobs = f"s3://{s3.bucket()}/podium"
            made = PodiumServer(tmp_path / name, url, blobs_url=blobs, graders=1, dispatch="queue")
            made.environment.update(s3.environment)
            return made

        yield make


def settings_of(server: PodiumServer) -> Settings:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        return Settings()


def command(server: PodiumServer, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_podium(
        arguments,
        env={**server.environment, "COLUMNS": "200"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@contextlib.contextmanager
def running(server: PodiumServer) -> Iterator[PodiumServer]:
    """The server, and the worker that it needs."""
    with contextlib.ExitStack() as stack:
        server.start()
        stack.callback(server.stop)
        if server.environment.get("PODIUM_DISPATCH") == "queue":
            data = server.data_dir.parent / f"{server.data_dir.name}-worker"
            worker = PodiumWorker(server, data).start()
            stack.callback(worker.stop)
        yield server


def shift(number: int) -> float:
    return 0.001 * (number + 1)


def submit(run: Run, folder: Path, number: int) -> str:
    answer = run.client.post(
        f"/v1/runs/{run.id}/submissions", content=good_submission(folder, shift=shift(number)),
        headers={"Content-Type": "text/csv", "Idempotency-Key": str(number)},
    )  # fmt: skip
    assert answer.status_code in (201, 202), answer.text
    return str(answer.json()["id"])


@pytest.mark.parametrize("kind", ["machine", "cluster"])
def test_a_podium_at_work_comes_back_anywhere(place: Place, kind: str, tmp_path: Path) -> None:
    origin = place(kind, "origin")
    folder = write_competition(tmp_path / "folders" / "tiny", metric_py=SLOW)
    sent: dict[int, str] = {}
    with contextlib.ExitStack() as stack, running(origin):
        podium = Podium(origin, folder.parent, stack)
        assert podium.send_folder(folder).status_code == 201
        run = podium.run(folder, feedback="full")
        for number in range(BEFORE):
            sent[number] = submit(run, folder, number)

        def told(step: str, done: int, total: int) -> None:
            steps.append(step)
            if len(steps) == 1:  # one table has been read, and the submissions' not yet
                for late in range(BEFORE, BEFORE + LATE):
                    sent[late] = submit(run, folder, late)

        steps: list[str] = []
        made = back_up(settings_of(origin), tmp_path / "backup", told)
        wait_until(podium.admin, sent[BEFORE], is_settled)
    assert steps[0] == "reading tables"
    rows = {table.name: table.file.rows for table in made.tables}
    assert (len(sent), rows["submission"]) == (BEFORE + LATE, BEFORE)
    assert verified(tmp_path / "backup", lambda *_: None) == made
    by_id = {submission: number for number, submission in sent.items()}

    twin = settings_of(place(kind, "twin"))
    restore(twin, tmp_path / "backup", lambda *_: None)
    again = back_up(twin, tmp_path / "again", lambda *_: None)
    assert again.blobs == made.blobs
    for table, twice in zip(made.tables, again.tables, strict=True):
        # Some submissions were being graded, and each Podium has a store of its own.
        assert table == twice or table.name in ("submission", "secret")

    target = place(OTHER[kind], "other")
    restored = command(target, "restore", tmp_path / "backup", "--json")
    assert restored.returncode == 0, restored.stderr
    assert json.loads(restored.stdout)["rows"] == rows
    target.key = origin.key
    with contextlib.ExitStack() as stack, running(target):
        podium = Podium(target, folder.parent, stack)
        kept = podium.admin.get(f"/v1/runs/{run.id}/submissions?limit=200").json()["items"]
        settled = [wait_until(podium.admin, one["id"], is_settled) for one in kept]
        files = [podium.admin.get(f"/v1/submissions/{one['id']}/file") for one in kept]
        agent = Run(run.id, run.document, podium.client(run.document["key"]))
        fresh = agent.submit(good_submission(folder, shift=0.5)).json()
        fresh = wait_until(podium.admin, fresh["id"], is_settled)
    assert len(kept) == rows["submission"]
    for one, file in zip(settled, files, strict=True):
        number = by_id[one["id"]]
        assert (one["state"], one["grade"]["score"]) == ("graded", pytest.approx(shift(number)))
        assert file.content == good_submission(folder, shift=shift(number))
    assert fresh["grade"]["score"] == pytest.approx(0.5)
    with pytest.raises(NotEmpty, match="has rows already, in competition_version"):
        restore(settings_of(target), tmp_path / "backup", lambda *_: None)
    sys.stderr.write(
        f"{len(sent)} sent, {rows['submission']} in the backup, {rows['grade']} graded by then\n"
    )
