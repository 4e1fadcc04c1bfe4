"""Two servers on one PostgreSQL: what one does, a client of the other is told at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.worker.loop import CLAIMED_PER_GRADER
from tests.api.conftest import Podium, Run
from tests.distributed.cluster import await_that
from tests.factories import good_submission, write_competition
from tests.postgres import Postgres
from tests.server import PodiumServer
from tests.signals import send_signal

# Slow where the file says so: it keeps a server's grader from everything behind it.
SLOW = """
import time

def score(answers, submission):
    if int(submission['target'].iloc[0]) == 777:
        time.sleep(20)
    return float(abs(answers['target'] - submission['target']).max())
"""


@pytest.fixture
def pair(
    tmp_path: Path, postgres: Postgres, migrated_postgres: str
) -> Iterator[tuple[PodiumServer, PodiumServer]]:
    """Two servers with one grader each, on one database and the same files."""
    with contextlib.ExitStack() as stack:
        url = postgres.url(stack.enter_context(postgres.database(migrated_postgres)))
        (tmp_path / "first").mkdir()
        (tmp_path / "second").mkdir()
        for shared in ("blobs", "competitions"):
            (tmp_path / "first" / shared).mkdir()
            (tmp_path / "second" / shared).symlink_to(tmp_path / "first" / shared)
        servers = []
        for name in ("first", "second"):
            server = PodiumServer(tmp_path / name, url, graders=1).start()
            stack.callback(server.stop)
            servers.append(server)
        yield servers[0], servers[1]


def test_a_client_waits_here_for_what_is_graded_there(
    pair: tuple[PodiumServer, PodiumServer], tmp_path: Path
) -> None:
    here, there = pair
    folder = write_competition(tmp_path / "slow", metric="my_error", metric_py=SLOW)
    good = good_submission(folder)
    lines = good.decode().splitlines()
    slow = "\n".join([lines[0], "r1,777", *lines[2:]]).encode()
    with contextlib.ExitStack() as stack:
        podium = Podium(here, tmp_path, stack)
        assert podium.send_folder(folder).status_code == 201
        run = podium.run(folder, feedback="full")
        send_signal(there.process, signal.SIGSTOP)
        try:
            for _ in range(CLAIMED_PER_GRADER):
                sent = run.submit(slow, Prefer="return=minimal")
                assert sent.status_code == 202
            # What this server had not taken, the other one would be slow with.
            await_that(lambda: states(podium, run) == {"grading"}, "not all are taken here")
            with ThreadPoolExecutor(1) as sender:
                waiting = sender.submit(run.submit, good, Prefer="wait=30")
                there.process.send_signal(signal.SIGCONT)
                answer = waiting.result()
        finally:
            there.process.send_signal(signal.SIGCONT)
        items = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        claimed_here = items[:-1]

    assert answer.status_code == 201
    assert answer.json()["state"] == "graded"
    # This server was not done with what it had taken before: the other one graded it.
    assert any(each["state"] == "grading" for each in claimed_here)


def states(podium: Podium, run: Run) -> set[str]:
    """The states of a run's submissions, as an admin sees them."""
    items = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    return {each["state"] for each in items}
