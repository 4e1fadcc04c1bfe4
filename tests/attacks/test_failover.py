"""A standby takes over that has not the last writes: what runs goes on from what is there."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg

from app.services.results.inputs.kept_results import gather_many
from app.services.runtime.context import Context, open_context
from app.services.runtime.kept_values import KeptValues
from app.settings import Settings
from app.storage.database import migrations
from tests.api.conftest import CSV, packed
from tests.crashable import crashable_postgres
from tests.factories import good_submission, write_competition
from tests.postgres import OwnServer
from tests.server import PodiumServer

SECONDS = 60
SLOW = """
import time

def score(answers, submission):
    time.sleep(8)
    return float((answers["target"] - submission["target"]).abs().mean())
"""


class Primary:
    """A server of Podium and its PostgreSQL, in whose place a copy can be put."""

    def __init__(
        self, postgres: OwnServer, name: str, server: PodiumServer, admin: httpx.Client
    ) -> None:
        self._postgres = postgres
        self._name = name
        self._data = postgres.directory / "data"
        self._standby = postgres.directory / "standby"
        self.server = server
        self.admin = admin

    def import_competition(self, folder: Path) -> None:
        archive = {"archive": ("c.tar.gz", packed(folder), "application/gzip")}
        assert self.admin.post("/v1/competitions", files=archive).status_code in (200, 201)

    def begin(self, folder: Path, **more: Any) -> str:
        """A new run; the competition and the experiment are made with the first one."""
        self.import_competition(folder)
        experiment = {"name": "e", "agent": "a", "model": "m"}
        assert self.admin.post("/v1/experiments", json=experiment).status_code in (200, 201)
        wanted = {"experiment": "e", "competition": folder.name, "seed": 0, **more}
        made: str = self.admin.post("/v1/runs", json=wanted).json()["id"]
        return made

    def send(self, run: str, body: bytes) -> str:
        sent = self.admin.post(f"/v1/runs/{run}/submissions", content=body, headers=CSV)
        assert sent.status_code == 202, sent.text
        return f"/v1/submissions/{sent.json()['id']}"

    @contextlib.contextmanager
    def reader(self, data: Path) -> Iterator[Context]:
        """Another process of the same Podium, which only reads."""
        url = self._postgres.url(self._name)
        settings = Settings(data_dir=data, database_url=url)
        context = open_context(settings, grades=False, validates=False)
        try:
            yield context
        finally:
            context.close()

    def wait(self, path: str, state: str) -> None:
        """Wait until a submission has this state."""
        deadline = time.monotonic() + SECONDS
        while (found := self.state(path)) != state:
            assert time.monotonic() < deadline, f"{found}, not {state}"
            time.sleep(0.05)

    def state(self, path: str) -> str | None:
        """The state of a submission now; None without an answer."""
        found: str | None = self.admin.get(path).json().get("state")
        return found

    def copy(self) -> None:
        """Make the standby: it gets what was written until now, and nothing later."""
        self._postgres.stop()
        shutil.copytree(self._data, self._standby)
        for each in (self._standby, *self._standby.rglob("*")):
            shutil.chown(each, self._data.owner(), self._data.group())
        self._postgres.start()

    def two_graded(self, folder: Path) -> tuple[str, str]:
        """Two open runs, each with a graded file."""
        first, second = self.begin(folder, seed=0), self.begin(folder, seed=1)
        for run, shift in ((first, 0.0), (second, 5.0)):
            self.wait(self.send(run, good_submission(folder, shift=shift)), "graded")
        return first, second

    def undo_claims(self) -> None:
        """Let the database be that of a standby that had the files and not the claims on them."""
        url = self._postgres.url(self._name)
        with psycopg.connect(url) as connection:
            connection.execute(
                "UPDATE submission SET state = 'queued', attempts = 0, claimed_by = NULL,"
                " claimed_at = NULL WHERE state = 'grading'"
            )

    def fail_over(self) -> None:
        """Let the standby take over, and wait until Podium listens to it, some two seconds."""
        self._postgres.stop()
        shutil.rmtree(self._data)
        self._standby.rename(self._data)
        self._postgres.start()
        deadline = time.monotonic() + SECONDS
        while self.admin.get("/readyz").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@contextlib.contextmanager
def primary(tmp_path: Path) -> Iterator[Primary]:
    with crashable_postgres() as postgres, postgres.database() as name:
        migrations.upgrade(postgres.url(name))
        server = PodiumServer(tmp_path / "data", postgres.url(name)).start()
        try:
            with server.client() as admin:
                yield Primary(postgres, name, server, admin)
        finally:
            server.stop()


def test_a_file_whose_outcome_was_lost_is_graded_again(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "slow", metric_py=SLOW)
    with primary(tmp_path) as podium:
        sent = podium.send(podium.begin(folder), good_submission(folder))
        podium.wait(sent, "grading")
        podium.copy()
        podium.wait(sent, "graded")

        podium.fail_over()

        # A copy that was made too late has the outcome: then nothing was lost and graded again.
        assert podium.state(sent) in ("queued", "grading")
        podium.wait(sent, "graded")


def test_a_board_has_no_result_that_was_lost(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny")
    with primary(tmp_path) as podium:
        lost, other = podium.two_graded(folder)
        podium.copy()
        board = {"experiments": "e", "padding": "available"}
        close = {"state": "closed"}
        assert podium.admin.patch(f"/v1/runs/{lost}", json=close).status_code == 200
        podium.admin.get("/v1/medal-rates", params=board)

        podium.fail_over()
        worse = podium.send(lost, good_submission(folder, shift=6.0))
        podium.wait(worse, "graded")
        assert podium.admin.patch(f"/v1/runs/{other}", json=close).status_code == 200
        shown = podium.admin.get("/v1/medal-rates", params=board).json()
        podium.server.stop()
        podium.server.start()

        assert shown == podium.admin.get("/v1/medal-rates", params=board).json()


class SlowToKeep(KeptValues):
    """Keeps what was computed only once it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.computed, self.may_keep = threading.Event(), threading.Event()

    def put(self, key: Hashable, version: Hashable, value: Any, size: int) -> None:
        self.computed.set()
        assert self.may_keep.wait(SECONDS)
        super().put(key, version, value, size)


def test_results_that_were_read_before_a_failover_are_not_kept_after_it(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny")
    with primary(tmp_path) as podium, podium.reader(tmp_path / "reader") as context:
        lost, other = podium.two_graded(folder)
        podium.copy()
        close = {"state": "closed"}
        assert podium.admin.patch(f"/v1/runs/{lost}", json=close).status_code == 200
        kept = SlowToKeep()
        slow = replace(context, kept=kept)
        with ThreadPoolExecutor() as threads:
            early = threads.submit(gather_many, slow, None, archived=False)
            assert kept.computed.wait(SECONDS)

            podium.fail_over()
            assert podium.admin.patch(f"/v1/runs/{other}", json=close).status_code == 200
            kept.may_keep.set()
            early.exception(SECONDS)  # its connection is lost, after it kept what it had read
        anew = gather_many(replace(context, kept=KeptValues()), None, archived=False)
        assert gather_many(slow, None, archived=False)["e"].results == anew["e"].results


def test_a_file_in_work_whose_claim_was_lost_is_graded_once(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "slow", metric_py=SLOW)
    with primary(tmp_path) as podium:
        sent = podium.send(podium.begin(folder), good_submission(folder))
        podium.wait(sent, "grading")
        podium.undo_claims()
        podium.wait(sent, "graded")
        other = podium.send(podium.begin(folder, seed=1), good_submission(folder))
        podium.wait(other, "graded")

        gradings = 'podium_grading_seconds_count{competition="slow"} '
        lines = podium.admin.get("/metrics").text.splitlines()
        assert [one for one in lines if one.startswith(gradings)] == [f"{gradings}2.0"]


def test_a_number_that_is_given_again_is_that_of_the_new_competition(tmp_path: Path) -> None:
    lost = write_competition(tmp_path / "lost")
    other = write_competition(tmp_path / "other", metric_py=SLOW.replace("time.sleep(8)", ""))
    with primary(tmp_path) as podium:
        podium.copy()
        graded = podium.send(podium.begin(lost), good_submission(lost))
        podium.wait(graded, "graded")
        podium.admin.get("/v1/competitions/lost/files")

        podium.fail_over()
        graded = podium.send(podium.begin(other), good_submission(other))
        podium.wait(graded, "graded")

        def shown() -> list[Any]:
            competition = podium.admin.get("/v1/competitions/other").json()
            return [competition, podium.admin.get(graded).json()]

        before = shown()
        assert before[0]["slug"] == "other"
        podium.server.stop()
        podium.server.start()
        assert before == shown()
