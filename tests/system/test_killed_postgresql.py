"""A PostgreSQL that is killed while agents send files: they are told, and nothing is lost."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.api.conftest import CSV, Podium, Run
from tests.crashable import crashable_postgres
from tests.distributed.cluster import await_that, is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer


def test_a_postgresql_killed_under_load_loses_nothing(
    own_server: Callable[..., PodiumServer], tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny")
    with crashable_postgres() as postgres, postgres.database() as name:
        server = own_server(url=postgres.url(name), database_patience_seconds=1)
        with contextlib.ExitStack() as stack:
            podium = Podium(server, tmp_path, stack)
            assert podium.send_folder(folder).status_code == 201
            run = podium.run(folder, feedback="full")
            acknowledged: dict[int, str] = {}
            statuses: set[int] = set()
            stop = threading.Event()
            senders = [
                threading.Thread(
                    target=keep_sending, args=(run, folder, first, acknowledged, statuses, stop)
                )
                for first in (1, 2)
            ]
            for sender in senders:
                sender.start()
            await_that(lambda: len(acknowledged) > 10, "nothing is acknowledged")
            postgres.stop(signal.SIGKILL)
            await_that(lambda: 503 in statuses, "nobody is told that the database is away")
            not_ready = podium.client().get("/readyz")
            before = len(acknowledged)
            postgres.start()
            await_that(lambda: len(acknowledged) > before + 10, "it does not come back")
            stop.set()
            for sender in senders:
                sender.join()
            settled = {
                number: wait_until_settled(podium, one) for number, one in acknowledged.items()
            }
            undisturbed = podium.run(folder, feedback="full")
            expected = {
                number: undisturbed.submit(shifted(folder, number)).json()["grade"]["score"]
                for number in (min(settled), max(settled))
            }
            with psycopg.connect(postgres.url(name)) as connection:
                grades = connection.execute(
                    "SELECT count(*), count(DISTINCT g.submission_id) FROM grade g "
                    "JOIN submission s ON s.id = g.submission_id WHERE s.run_id = %s",
                    (run.id,),
                ).fetchone()
        server.stop()

    assert statuses <= {200, 201, 202, 503}
    assert {each["state"] for each in settled.values()} == {"graded"}
    # One more may have been stored whose acknowledgement nobody got.
    assert grades is not None
    assert grades[0] == grades[1] >= len(settled)
    assert {n: settled[n]["grade"]["score"] for n in expected} == expected
    assert not_ready.status_code == 503
    assert "away" in not_ready.json()["database"]


def shifted(folder: Path, number: int) -> bytes:
    return good_submission(folder, shift=number / 1000)


def keep_sending(
    run: Run, folder: Path, first: int, acknowledged: dict[int, str],
    statuses: set[int], stop: threading.Event,
) -> None:  # fmt: skip
    """Send every second file, from the `first` on, each until it is acknowledged."""
    number = first
    with httpx.Client(
        base_url=run.client.base_url,
        headers=run.client.headers,
        timeout=60,
        trust_env=False,
        verify=False,
    ) as agent:
        while not stop.is_set():
            answer = agent.post(
                f"/v1/runs/{run.id}/submissions",
                content=shifted(folder, number),
                headers={**CSV, "Prefer": "wait=2", "Idempotency-Key": str(number)},
            )
            statuses.add(answer.status_code)
            if answer.status_code == 503:
                assert int(answer.headers["Retry-After"]) > 0
                time.sleep(0.05)
                continue
            acknowledged[number] = answer.json()["id"]
            number += 2


def wait_until_settled(podium: Podium, submission: str) -> dict[str, Any]:
    return wait_until(podium.admin, submission, is_settled)
