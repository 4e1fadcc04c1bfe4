"""Machines die, freeze and come back: each acknowledged submission has exactly one grade, right."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.distributed.cluster import (
    HEARTBEAT,
    Cluster,
    await_that,
    cluster,
    is_grading,
    wait_until,
)
from tests.distributed.judge import Judge, bodies, one_of
from tests.postgres import OwnServer
from tests.s3 import S3Server

BOUND = 7 * HEARTBEAT  # what `app.queue.maintenance` promises


def test_two_workers_share_what_two_servers_receive(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), bodies(slow)
    workers = [two_servers.worker().start() for _ in range(2)]

    judge.assert_right(two_servers, two_servers.submit_all(run, files), files)

    await_that(lambda: two_servers.jobs() == 0, "finished jobs stay in the queue")
    assert [worker.stop() for worker in workers] == [0, 0]


def test_a_client_is_answered_when_a_worker_has_graded(two_servers: Cluster, slow: Path) -> None:
    run = two_servers.set_up(slow)
    two_servers.worker().start()
    with two_servers.servers[1].client(run["key"]) as agent:
        answer = agent.post(
            f"/v1/runs/{run['id']}/submissions", content=bodies(slow, 1)[0],
            headers={"Content-Type": "text/csv", "Prefer": "wait=30"},
        )  # fmt: skip

    assert (answer.status_code, answer.json()["state"]) == (201, "graded")


def test_servers_and_workers_killed_in_the_middle_lose_nothing(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), bodies(slow, 30)  # until a worker dies at work
    workers = [two_servers.worker().start() for _ in range(2)]
    kills = 0
    with sending(lambda: two_servers.submit_all(run, files)) as sent:
        while lost_with_a_worker(two_servers) == 0:
            assert kills < 10, "no worker was killed at work"
            await_that(
                lambda: count_grading(two_servers) > 1 or lost_with_a_worker(two_servers) > 0,
                "nothing is graded",
            )
            victim = workers[kills % 2]
            victim.kill()
            server = two_servers.servers[kills % 2]
            server.kill()
            victim.start()
            server.start()
            kills += 1
            with contextlib.suppress(AssertionError):  # an idle worker finds what a dead one had
                await_that(lambda: lost_with_a_worker(two_servers) > 0, "nothing is lost", BOUND)

    judge.assert_right(two_servers, sent, files)
    lost = lost_with_a_worker(two_servers)
    judge.say(f"{kills} workers and as many servers killed; gradings lost with a worker: {lost}")


def test_a_dead_workers_submission_is_graded_again_within_the_bound(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), [one_of(slow, 3, 0.001)]
    victim, heir = two_servers.worker().start(), two_servers.worker().start()
    heir.send(signal.SIGSTOP)  # so that the other one takes the submission
    sent = two_servers.submit_all(run, files)
    with two_servers.servers[0].client() as admin:
        wait_until(admin, sent[0], is_grading)
    heir.send(signal.SIGCONT)
    victim.kill()
    killed = time.monotonic()
    await_that(lambda: attempts(two_servers, sent[0]) == 2, "nobody takes over")
    seconds = time.monotonic() - killed

    judge.assert_right(two_servers, sent, files)
    judge.say(
        f"taken over {seconds:.1f} s after the death; back in the queue within {BOUND} s, and idle "
        "workers are notified"
    )
    assert seconds < 6 * BOUND  # and this machine's slowness


def test_a_frozen_worker_that_comes_back_changes_nothing(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), [one_of(slow, 1, 0.001), *bodies(slow, 8)[1:]]
    frozen = two_servers.worker().start()
    sent = two_servers.submit_all(run, files[:1])
    with two_servers.servers[0].client() as admin:
        wait_until(admin, sent[0], is_grading)
    frozen.send(signal.SIGSTOP)
    two_servers.worker().start()
    # The frozen one's grader goes on: its reply waits for the worker to thaw.
    two_servers.settled(sent)
    before = two_servers.query("SELECT id, score, graded_at FROM grade")
    frozen.send(signal.SIGCONT)
    await_that(lambda: "came too late" in frozen.log.read_text(), "no late outcome came")

    # It was only slow, and goes on as a worker.
    sent += two_servers.submit_all(run, files[1:], first=1)
    judge.assert_right(two_servers, sent, files)
    after = two_servers.query("SELECT id, score, graded_at FROM grade ORDER BY id LIMIT 1")
    assert before == after
    assert frozen.stop() == 0


def test_two_jobs_for_one_submission_give_one_grade(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), bodies(slow, 12)
    sent = two_servers.submit_all(run, files)
    two_servers.query(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, args) "
        "SELECT queue_name, task_name, args FROM procrastinate_jobs RETURNING id"
    )
    assert two_servers.jobs() == 24
    for _ in range(2):
        two_servers.worker().start()

    judge.assert_right(two_servers, sent, files)
    await_that(lambda: two_servers.jobs() == 0, "the second jobs stay in the queue")
    assert two_servers.query("SELECT DISTINCT attempts FROM submission") == [(1,)]


def test_one_job_given_to_two_workers_gives_one_grade(
    two_servers: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = two_servers.set_up(slow), [one_of(slow, 5, 0.001 * n) for n in (1, 2)]
    first, second = (two_servers.worker(graders=2).start() for _ in range(2))
    second.send(signal.SIGSTOP)  # so that the first one takes both
    sent = two_servers.submit_all(run, files)
    await_that(lambda: count_grading(two_servers) == 2, "the first worker does not take both")
    given = two_servers.query(
        "UPDATE procrastinate_jobs SET status = 'todo', worker_id = NULL RETURNING id"
    )
    assert len(given) == 2
    second.send(signal.SIGCONT)
    for one in sent:
        await_that(lambda one=one: attempts(two_servers, one) == 2, "the second takes it not")

    judge.assert_right(two_servers, sent, files)
    await_that(lambda: first.log.read_text().count("came too late") == 2, "no late outcome came")
    await_that(lambda: two_servers.jobs() == 0, "jobs stay in the queue")
    assert two_servers.grades(sent) == {1: 2}
    assert [first.stop(), second.stop()] == [0, 0]


def test_postgresql_killed_under_load_loses_nothing(
    own_postgres: OwnServer, s3: S3Server, judge: Judge, slow: Path, tmp_path: Path
) -> None:
    with (
        own_postgres.database() as name,
        cluster(own_postgres.url(name), tmp_path / "c", s3) as made,
    ):
        run, files = made.set_up(slow), bodies(slow)
        workers = [made.worker().start() for _ in range(2)]
        with sending(lambda: made.submit_all(run, files)) as sent:
            for _ in range(2):
                await_that(lambda: count_grading(made) > 0, "nothing is graded")
                made.disconnect()
                own_postgres.stop(signal.SIGKILL)
                time.sleep(1.5)
                own_postgres.start()

        judge.assert_right(made, sent, files)
        assert [worker.process.poll() for worker in workers] == [None, None]
        await_that(lambda: made.jobs() == 0, "jobs stay in the queue")


def test_a_worker_stopped_while_postgresql_is_away_costs_no_attempt(
    own_postgres: OwnServer, s3: S3Server, slow: Path, tmp_path: Path
) -> None:
    with (
        own_postgres.database() as name,
        cluster(own_postgres.url(name), tmp_path / "c", s3, database_patience_seconds=1) as made,
    ):
        run = made.set_up(slow)
        worker = made.worker(drain_seconds=0.5).start()
        (sent,) = made.submit_all(run, [one_of(slow, 40, 0.001)])
        await_that(lambda: count_grading(made) == 1, "nothing is graded")
        (before,) = made.query("SELECT claimed_by FROM submission")
        made.disconnect()
        own_postgres.stop()
        assert worker.stop() == 0
        own_postgres.start()
        worker.start()

        def claimant() -> object:
            return made.query("SELECT claimed_by FROM submission")[0]

        await_that(lambda: claimant() not in (before, (None,)), "the next worker claims it not")
        assert (attempts(made, sent), lost_with_a_worker(made)) == (1, 0)


def test_a_worker_without_a_job_ends_while_postgresql_is_away(
    own_postgres: OwnServer, s3: S3Server, tmp_path: Path
) -> None:
    """It gives nothing back, so it does not use up its drain, which is a minute."""
    with (
        own_postgres.database() as name,
        cluster(own_postgres.url(name), tmp_path / "c", s3, database_patience_seconds=1) as made,
    ):
        worker = made.worker().start()
        await_that(lambda: made.query("SELECT id FROM procrastinate_workers"), "no worker")
        made.disconnect()
        own_postgres.stop()
        assert worker.stop() == 0
        own_postgres.start()

    assert '"level": "error"' not in worker.log.read_text()


@contextlib.contextmanager
def sending(send: Callable[[], list[str]]) -> Iterator[list[str]]:
    """Send in another thread meanwhile; what is given holds the ids in the end."""
    sent: list[str] = []
    thread = threading.Thread(target=lambda: sent.extend(send()))
    thread.start()
    yield sent
    thread.join()


def attempts(made: Cluster, submission: str) -> int:
    rows = made.query("SELECT attempts FROM submission WHERE id = %s", submission)
    return int(rows[0][0])


def lost_with_a_worker(made: Cluster) -> int:
    return int(made.query("SELECT count(*) FROM fault WHERE kind = 'worker_lost'")[0][0])


def count_grading(made: Cluster) -> int:
    return int(made.query("SELECT count(*) FROM submission WHERE state = 'grading'")[0][0])
