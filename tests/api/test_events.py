"""Server-sent events of a run: told as they happen, resumed without loss, bounded."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.api.http.event_stream import PER_RUN_KEY
from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.server import PodiumServer
from tests.sse import follow

STREAMS = PER_RUN_KEY + 2


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PodiumServer]:
    home = tmp_path_factory.mktemp(f"podium-events-{request.param}")
    with contextlib.ExitStack() as stack:
        url = ""
        if request.param == "postgresql":
            postgres = request.getfixturevalue("postgres")
            migrated = request.getfixturevalue("migrated_postgres")
            url = postgres.url(stack.enter_context(postgres.database(migrated)))
        started = PodiumServer(
            home / "data", url, graders=1, event_streams=STREAMS, event_heartbeat_seconds=0.5
        ).start()
        yield started
        assert started.stop() == 0


def send(run: Run, body: bytes, **headers: str) -> str:
    """Send without waiting; the submission's id."""
    return run.submit(body, Prefer="return=minimal", **headers).json()["id"]


def close(podium: Podium, run: Run) -> None:
    assert podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).status_code == 200


@pytest.mark.parametrize("feedback", ["none", "validity", "public", "full"])
def test_events_show_what_a_get_shows(
    podium: Podium, tiny: Path, good: bytes, feedback: str
) -> None:
    run = podium.run(tiny, feedback=feedback)
    with follow(run.client, run.id) as events:
        assert events.response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert events.response.headers["Cache-Control"] == "no-store"
        sent = run.submit(good).json()
        states = events.until("received" if feedback == "none" else "graded")
        last = events.last_id
        bad = run.submit(b"id,target\nr1,x\n").json()
        states += events.until("received" if feedback == "none" else "rejected")
        close(podium, run)
        rest = events.rest()
    with follow(run.client, run.id) as events:
        first = events.next()
    with follow(run.client, run.id, last) as events:
        again = events.rest()
    shown = run.client.get(f"/v1/submissions/{sent['id']}").json()

    assert first == ("submission", shown)
    if feedback == "none":
        assert states == [(sent["id"], "received"), (bad["id"], "received")]
    else:
        allowed = ["queued", "grading", "graded", "queued", "grading", "rejected"]
        # Moments may be passed over, never reordered.
        assert in_order([state for _, state in states], allowed)
    assert rest == [(run.id, "closed")]
    assert again == [(bad["id"], states[-1][1]), (run.id, "closed")]


def in_order(some: list[str], of: list[str]) -> bool:
    rest = iter(of)
    return all(one in rest for one in some)


def test_numbers_disclosed_by_events_are_in_the_ledger(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="public")
    send(run, good)
    with follow(run.client, run.id) as events:
        events.until("graded")
    totals = run.client.get(f"/v1/runs/{run.id}/exposure").json()["totals"]

    assert totals["public_scores"] == 1
    assert totals["private_scores"] == 0


def test_a_client_that_was_away_is_told_what_it_missed(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)
    first = run.submit(good).json()["id"]
    with follow(run.client, run.id) as events:
        assert events.until("graded") == [(first, "graded")]
        last = events.last_id
    second = run.submit(good + b"\n").json()["id"]
    third = run.submit(b"nonsense").json()["id"]
    with follow(run.client, run.id, last) as events:
        assert events.until("rejected") == [(second, "graded"), (third, "rejected")]
    with follow(run.client, run.id, events.last_id) as events:
        fourth = run.submit(good).json()["id"]
        assert events.until("graded")[-1] == (fourth, "graded")


def test_after_the_end_a_client_is_told_not_to_come_again(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)
    run.submit(good)
    close(podium, run)
    with follow(run.client, run.id) as events:
        assert [state for _, state in events.rest()] == ["graded", "closed"]
    path = f"/v1/runs/{run.id}/events"
    again = run.client.get(path, headers={"Last-Event-ID": events.last_id})

    assert again.status_code == 204
    assert again.content == b""


def test_a_run_closed_by_a_command_ends_its_streams(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    with follow(run.client, run.id) as events:
        run_podium(
            ["runs", "close", "--experiment",
             run.document["experiment"]],
            env=podium.server.environment, check=True, capture_output=True,
        )  # fmt: skip
        assert events.rest() == [(run.id, "closed")]


def test_a_quiet_stream_shows_that_it_is_alive(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    with follow(run.client, run.id) as events:
        closing = threading.Timer(2.0, close, (podium, run))
        closing.start()
        assert events.rest() == [(run.id, "closed")]
        assert events.comments >= 2
        closing.join()


def test_others_runs_do_not_exist_and_keys_are_needed(podium: Podium, tiny: Path) -> None:
    run, other = podium.run(tiny), podium.run(tiny)
    path = f"/v1/runs/{run.id}/events"

    assert other.client.get(path).status_code == 404
    assert podium.client().get(path).status_code == 401
    assert podium.admin.get("/v1/runs/run_nowhere/events").status_code == 404
    wrong = run.client.get(path, headers={"Last-Event-ID": "17"})
    assert wrong.status_code == 400
    assert "Last-Event-ID" in wrong.json()["detail"]


def test_a_revoked_key_ends_its_streams(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    made = run_podium(
        ["keys", "create", "researcher", "--json"],
        env=podium.server.environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    key = httpx.Response(200, text=made.stdout).json()
    with follow(podium.client(key["key"]), run.id) as events:
        run_podium(
            ["keys", "revoke", key["id"]],
            env=podium.server.environment, check=True, capture_output=True,
        )  # fmt: skip
        assert events.rest() == []


def test_streams_are_bounded_by_key_and_by_server(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    path = f"/v1/runs/{run.id}/events"
    with contextlib.ExitStack() as stack:
        for _ in range(PER_RUN_KEY):
            stack.enter_context(follow(run.client, run.id))
        of_key = run.client.get(path)
        for _ in range(STREAMS - PER_RUN_KEY):
            stack.enter_context(follow(podium.admin, run.id))
        of_server = podium.admin.get(path)
        assert run.submit(good).status_code == 201
    time.sleep(1)  # more than a heartbeat: those that left are noticed at the latest then
    with follow(run.client, run.id) as events:
        assert events.until("graded")

    assert (of_key.status_code, of_key.json()["type"]) == (429, "/problems/too-many-streams")
    assert (of_server.status_code, of_server.json()["type"]) == (503, "/problems/unavailable")
    assert int(of_key.headers["Retry-After"]) > 0
    assert int(of_server.headers["Retry-After"]) > 0


def test_a_server_that_is_stopped_ends_its_streams_and_waits_at_once(
    podium: Podium, tmp_path: Path
) -> None:
    server = PodiumServer(tmp_path / "data", graders=1).start()
    with contextlib.ExitStack() as stack:
        own = Podium(server, tmp_path / "folders", stack)
        folder = own.competition(metric="my_error", metric_py=SLOW)
        run = own.run(folder)
        lines = good_submission(folder).decode().splitlines()
        slow = "\n".join([lines[0], "r1,777", *lines[2:]]).encode()
        answers: list[httpx.Response] = []
        sender = threading.Thread(target=lambda: answers.append(run.submit(slow, Prefer="wait=60")))
        with follow(run.client, run.id) as events, follow(own.admin, run.id) as seen:
            sender.start()
            events.until("queued")
            seen.until("grading")  # which a run's key does not see
            started = time.monotonic()
            status = server.stop()
            ended = events.rest()
        sender.join()
        seconds = time.monotonic() - started

    assert status == 0
    assert ended == []
    assert answers[0].status_code == 202
    assert answers[0].json()["state"] in ("queued", "grading")
    # uvicorn would have waited 15 seconds for them; graders have 5 to finish.
    assert seconds < 12


SLOW = """
import time

def score(answers, submission):
    if int(submission["target"].iloc[0]) == 777:  # not when it is tried at import
        time.sleep(30)
    return 0.0
"""
