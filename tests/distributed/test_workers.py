"""Workers come and go: started wrongly, told to stop, refused."""

from __future__ import annotations

import re
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.grading_version import grading_version
from app.storage.database.urls import database_url
from tests.distributed.cluster import Cluster, await_that, is_grading, wait_until
from tests.distributed.judge import Judge, bodies, one_of
from tests.forkserver import run_podium
from tests.postgres import Postgres
from tests.server import free_port


def refused(home: Path, *options: str, **settings: Any) -> str:
    """What `podium worker` says that does not start."""
    done = run_podium(
        ["worker", *options],
        env={
            "PATH": "/usr/bin:/bin",
            "PODIUM_DATA_DIR": str(home / "data"),
            **{f"PODIUM_{name.upper()}": str(value) for name, value in settings.items()},
        },
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_a_worker_without_a_queue_says_what_to_set(tmp_path: Path) -> None:
    assert "PODIUM_DISPATCH=queue" in refused(tmp_path)
    assert "set PODIUM_DATABASE_URL to postgresql://" in refused(tmp_path, dispatch="queue")


def test_a_wrong_database_url_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, dispatch="queue", database_url="mysql://me:secret@here/podium")

    assert "SQLite or PostgreSQL, not 'mysql'" in said
    assert "secret" not in said


def test_a_database_url_with_a_wrong_port_is_refused(tmp_path: Path) -> None:
    url = "postgresql://me:secret@here:5x/podium"
    said = refused(tmp_path, dispatch="queue", database_url=url)

    assert "it is not a URL" in said
    assert "secret" not in said


@pytest.mark.parametrize("rest", ["db..local/podium", "here/podium?port=5x", f"{'a' * 64}/podium"])
def test_a_database_url_with_a_wrong_host_is_refused(tmp_path: Path, rest: str) -> None:
    said = refused(tmp_path, dispatch="queue", database_url=f"postgresql://me:secret@{rest}")

    assert "a host or port in it is not one" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///db?host=%2Fvar%2Frun..x%2F" + "a" * 80,
        "postgresql://me@/db?host=a:1&host=b:2",
        "postgresql://a,b/db?port=1,2",
        "postgresql://[::1]:5432/db",
        "postgresql:///db?host=@socket..x",
    ],
)
def test_other_ways_to_name_a_host_are_taken(url: str) -> None:
    assert database_url(url).database == "db"


def test_an_unknown_queue_is_named(tmp_path: Path) -> None:
    said = refused(tmp_path, "--queues", "small,huge", dispatch="queue")

    assert "no queue huge; the queues are: small, medium, large" in said


def test_a_worker_waits_for_a_database_and_says_which(
    postgres: Postgres, empty_postgres: str, unserved: Cluster
) -> None:
    waiting = unserved.worker(database_url=postgres.url("podium_nowhere")).launch()
    unmigrated = unserved.worker(database_url=postgres.url(empty_postgres)).launch()

    await_that(lambda: '"podium_nowhere\\" does not exist' in waiting.log.read_text(), "silence")
    await_that(lambda: "podium db upgrade" in unmigrated.log.read_text(), "silence")
    for worker in (waiting, unmigrated):
        assert worker.process.poll() is None


def test_a_schema_from_the_future_is_refused(unserved: Cluster) -> None:
    unserved.query("UPDATE alembic_version SET version_num = '9999'")
    worker = unserved.worker().launch()

    assert worker.wait() == 1
    assert "newer than this Podium" in " ".join(worker.log.read_text().split())


def test_a_worker_on_other_files_is_refused(two_servers: Cluster, tmp_path: Path) -> None:
    """It would find none: above all, the shared disk of its machine is not mounted yet."""
    worker = two_servers.worker(blobs_url=(tmp_path / "not-mounted").as_uri()).launch()

    assert worker.wait() == 1
    assert "machines share, is it mounted?" in " ".join(worker.log.read_text().split())


def test_a_worker_of_another_environment_ends_and_hands_back(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), bodies(slow, 3)
    running = two_servers.worker().start()
    two_servers.query("UPDATE grading_environment SET podium_version = '0.0.9'")
    sent = two_servers.submit_all(run, files)

    assert running.wait() == 1
    assert f"podium is {grading_version()}, not 0.0.9" in " ".join(running.log.read_text().split())
    newcomer = two_servers.worker().launch()
    assert newcomer.wait() == 1
    assert two_servers.grades(sent) == {0: 3}

    two_servers.worker("--adopt").start()
    judge.assert_right(two_servers, sent, files)
    assert two_servers.query("SELECT DISTINCT attempts FROM submission") == [(1,)]


def test_a_worker_that_is_stopped_finishes_its_gradings(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), [one_of(slow, 2, 0.001), *bodies(slow, 4)[1:]]
    worker = two_servers.worker("--concurrency", "1").start()
    sent = two_servers.submit_all(run, files[:1])
    sent += two_servers.submit_all(run, files[1:], first=1)
    with two_servers.servers[0].client() as admin:
        wait_until(admin, sent[0], is_grading)

    assert worker.stop() == 0
    assert two_servers.grades(sent) == {0: 3, 1: 1}

    two_servers.worker().start()
    judge.assert_right(two_servers, sent, files)


@pytest.mark.parametrize("closes", [False, True], ids=["stopped", "terminal closes"])
def test_what_cannot_be_finished_is_handed_back_at_once(
    two_servers: Cluster, slow: Path, closes: bool
) -> None:
    run = two_servers.set_up(slow)
    worker = two_servers.worker(drain_seconds=0.5).start()
    sent = two_servers.submit_all(run, [one_of(slow, 20, 0.001)])
    with two_servers.servers[0].client() as admin:
        wait_until(admin, sent[0], is_grading)

    if closes:
        worker.send(signal.SIGHUP)  # of the shell
        time.sleep(0.2)
        worker.send(signal.SIGHUP)  # of the kernel
        assert worker.wait(30) == 0
    else:
        assert worker.stop() == 0
    rows = two_servers.query("SELECT state, attempts, claimed_by FROM submission")
    assert rows == [("queued", 0, None)]
    assert two_servers.query("SELECT status FROM procrastinate_jobs") == [("todo",)]


def test_a_second_signal_ends_a_worker_now(two_servers: Cluster, slow: Path) -> None:
    run = two_servers.set_up(slow)
    worker = two_servers.worker().start()
    sent = two_servers.submit_all(run, [one_of(slow, 30, 0.001)])
    with two_servers.servers[0].client() as admin:
        wait_until(admin, sent[0], is_grading)
    worker.send(signal.SIGTERM)
    time.sleep(0.5)
    assert worker.process.poll() is None
    worker.send(signal.SIGINT)

    assert worker.wait(10) == 128 + signal.SIGINT


def test_what_was_queued_for_an_embedded_server_is_graded_by_workers(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), bodies(slow, 5)
    sent = two_servers.submit_all(run, files)
    two_servers.query("DELETE FROM procrastinate_jobs")
    two_servers.servers[0].stop()
    two_servers.servers[0].start()
    assert two_servers.jobs() == 5

    two_servers.worker().start()
    judge.assert_right(two_servers, sent, files)


def shows(client: httpx.Client, line: str) -> bool:
    return line in client.get("/metrics").text


def test_servers_and_workers_have_metrics_of_their_work(two_servers: Cluster, slow: Path) -> None:
    server = two_servers.servers[0]
    run = two_servers.set_up(slow)
    sent = two_servers.submit_all(run, bodies(slow, 2))
    with server.client() as client:
        idle, waiting = client.get("/readyz"), client.get("/metrics").text
        port = free_port()
        two_servers.worker("--metrics-port", str(port)).start()
        second = two_servers.worker("--metrics-port", str(port)).launch()
        two_servers.settled(sent)
        for line in ("podium_submissions_queued 0.0\n", "podium_queue_consumers 2.0\n"):
            await_that(partial(shows, client, line), f"its metrics never say {line}")
        await_that(
            lambda: client.get("/readyz").json()["workers"] == "2 consumers of the queue are alive",
            "the worker is not seen",
        )
    shown = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text

    assert idle.status_code == 200
    assert "none is alive" in idle.json()["workers"]
    assert 'podium_submissions_open{size="small",state="queued"} 2.0' in waiting
    assert "podium_queue_consumers 0.0" in waiting
    assert re.search(r"^podium_oldest_queued_seconds (?!0\.0$)", waiting, re.MULTILINE)
    assert 'podium_grading_seconds_count{competition="slow"} 2.0' in shown
    assert 'podium_submissions_settled_total{state="graded"} 2.0' in shown
    assert re.search(r'^podium_grader_resident_bytes{pid="\d+"} [1-9]', shown, re.MULTILINE)
    assert second.wait() == 1
    assert "Choose another --metrics-port" in " ".join(second.log.read_text().split())
