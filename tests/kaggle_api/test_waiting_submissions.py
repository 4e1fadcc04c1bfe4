"""Submissions that wait for their outcome keep no other requests of their run waiting."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx

from app.api.http.turns.request_turns import OF_RUN
from app.kaggle_api.submissions import GRADING_WAIT_SECONDS
from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.kaggle_api.test_bad_calls import create, put, start
from tests.postgres import Postgres
from tests.server import PodiumServer


def test_requests_of_a_run_are_answered_while_many_of_its_submissions_wait(tmp_path: Path) -> None:
    # The first moment at which an outcome is shown: each submission waits as long as it can.
    server = PodiumServer(tmp_path / "data", graders=1, outcome_step_seconds=60).start()
    with contextlib.ExitStack() as clients:
        clients.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run = podium.run(folder)
        file, waiting = good_submission(folder), list[Future[httpx.Response]]()
        with ThreadPoolExecutor(OF_RUN) as threads:
            for number in range(OF_RUN):
                begun = start(run, folder.name, file)
                assert put(begun["createUrl"], file).status_code == 200
                waiting.append(threads.submit(create, run, folder.name, begun["token"]))
                path = f"/v1/runs/{run.id}/submissions"
                while len(podium.admin.get(path).json()["items"]) <= number:
                    assert not any(one.done() for one in waiting)
            assert run.client.get(f"/v1/runs/{run.id}").status_code == 200
            assert not any(one.done() for one in waiting)
            assert [one.result().status_code for one in waiting] == [200] * OF_RUN


def test_under_none_the_answer_does_not_tell_when_the_grading_ended(
    postgres: Postgres, migrated_postgres: str, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        url = postgres.url(stack.enter_context(postgres.database(migrated_postgres)))
        # No worker grades what is queued.
        server = PodiumServer(tmp_path / "data", url, dispatch="queue").start()
        stack.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", stack)
        folder = podium.competition()
        run, file = podium.run(folder, "none"), good_submission(folder)
        begun = start(run, folder.name, file)
        assert put(begun["createUrl"], file).status_code == 200

        asked = time.monotonic()
        assert create(run, folder.name, begun["token"]).status_code == 200
        assert time.monotonic() - asked < GRADING_WAIT_SECONDS
        (sent,) = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        assert sent["state"] == "queued"
