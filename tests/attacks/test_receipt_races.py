"""Receipts of runs that are closed in several ways at once, or graded long after their close."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import threading
import time
from pathlib import Path

import httpx

from tests.api.conftest import Podium, Run
from tests.api.test_receipts import checked, receipts_of
from tests.attacks.conftest import metric
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.server import PodiumServer

SLOW = metric("import time; time.sleep(2); return 0.5")
FAILURES = ("crash", "out_of_memory", "out_of_time")


def test_the_last_receipt_states_what_the_run_says(podium: Podium) -> None:
    folder = podium.competition()
    runs = [podium.run(folder) for _ in range(40)]

    for run in runs:
        changes = [{"state": "closed"}, {"state": "closed"}, *({"failure": f} for f in FAILURES)]
        threads = [threading.Thread(target=change, args=(podium, run, one)) for one in changes]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    wrong = []
    for run in runs:
        found = receipts_of(podium, run.id)
        last = max(found, key=lambda one: one["index"])
        stated = checked(podium, last["id"])["run"]["failure"]
        is_chain = len({one["supersedes"] for one in found}) == len(found)
        if not is_chain or stated != podium.admin.get(f"/v1/runs/{run.id}").json()["failure"]:
            wrong.append((run.id, stated))
    assert wrong == []


def change(podium: Podium, run: Run, body: dict[str, str]) -> None:
    assert podium.admin.patch(f"/v1/runs/{run.id}", json=body).status_code == 200


def test_a_grade_days_after_the_close_has_its_receipt(
    own_server: PodiumServer, tmp_path: Path
) -> None:
    """The graders were away meanwhile."""
    with contextlib.ExitStack() as clients:
        podium = Podium(own_server, tmp_path / "folders", clients)
        run = podium.run(podium.competition(metric_py=SLOW, leaderboard=None, usage=None))
        folder = next((tmp_path / "folders").iterdir())
        run.submit(good_submission(folder), Prefer="wait=0")
        change(podium, run, {"state": "closed"})
        assert receipts_of(podium, run.id) == []
        own_server.kill()
        with contextlib.closing(sqlite3.connect(own_server.data_dir / "podium.db")) as database:
            database.execute("UPDATE run SET closed_at = datetime(closed_at, '-3 days')")
            database.commit()

        own_server.start()
        until = time.monotonic() + 40
        while not receipts_of(podium, run.id) and time.monotonic() < until:
            time.sleep(0.5)

        [receipt] = receipts_of(podium, run.id)
        assert checked(podium, receipt["id"])["outcome"] == "graded"


def test_a_failure_and_its_receipt_are_changed_together_by_a_server_that_is_killed(
    own_server: PodiumServer, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as clients:
        podium = Podium(own_server, tmp_path / "folders", clients)
        folder = podium.competition()
        runs = [podium.run(folder) for _ in range(8)]
        for run in runs:
            change(podium, run, {"state": "closed"})

        def change_until_killed(run: Run) -> None:
            with contextlib.suppress(httpx.TransportError):
                for failure in itertools.cycle(FAILURES):
                    change(podium, run, {"failure": failure})

        threads = [threading.Thread(target=change_until_killed, args=(run,)) for run in runs]
        for each in threads:
            each.start()
        time.sleep(0.5)
        own_server.kill()
        for each in threads:
            each.join()

    verified = run_podium(["verify"], env=own_server.environment, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout
