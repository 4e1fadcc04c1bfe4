"""PostgreSQL stopped, crashed and started again; connections cut at the worst moment."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text

from app.domain.states import SubmissionState
from app.errors import Unavailable
from app.queue.consumer import Retry
from app.services.grading.submission_claims import SubmissionClaims
from app.services.runtime import environment
from app.services.runtime.context import open_context
from app.settings import Settings
from app.storage.database import migrations
from app.storage.database.database import Database
from app.storage.database.engine import DatabaseLimits
from app.storage.queries import experiments, submissions
from app.storage.queries.ids import new_id
from app.storage.queries.operation import faults
from app.worker import deliveries
from tests.crashable import crashable_postgres
from tests.graders.conftest import wait_until
from tests.storage.make import make_experiment, make_submission, make_world
from tests.storage.proxy import Proxy


@pytest.fixture(scope="module")
def own_server():
    """A server that these tests may stop."""
    with crashable_postgres() as server:
        yield server


@pytest.fixture
def own_url(own_server):
    with own_server.database() as name:
        migrations.upgrade(own_server.url(name))
        yield own_server.url(name)


@pytest.fixture
def proxy(own_server):
    directory = Path(tempfile.mkdtemp(prefix="podium-proxy-"))
    listening = Proxy(directory, own_server.directory)
    yield listening
    listening.close()
    shutil.rmtree(directory)


def through(proxy, url):
    return make_url(url).update_query_dict({"host": str(proxy.directory)}).render_as_string()


@contextlib.contextmanager
def opened(url, patience=15.0):
    database = Database(url, write_patience=patience)
    try:
        yield database
    finally:
        database.close()


def add(database, name):
    return database.write(lambda s: experiments.add(s, make_experiment(name)))


def names(database):
    with database.read() as session:
        return [each.name for each in experiments.list_page(session, limit=100_000)]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_writes_outlive_a_server_that_is_started_again(own_server, own_url, how):
    acknowledged, failures, stop = [], [], threading.Event()

    def work(database):
        while not stop.is_set():
            try:
                acknowledged.append(add(database, new_id("e")).name)
            except Exception as error:
                failures.append(error)

    with opened(own_url) as database:
        workers = [threading.Thread(target=work, args=(database,)) for _ in range(4)]
        for worker in workers:
            worker.start()
        wait_until(lambda: bool(acknowledged))
        own_server.stop(how)
        stopped_at = len(acknowledged)
        time.sleep(1.0)
        own_server.start()
        wait_until(lambda: len(acknowledged) > stopped_at)
        stop.set()
        for worker in workers:
            worker.join(30)

        assert failures == []
        assert 0 < stopped_at < len(acknowledged)
        # Each exactly once: a name stored twice would have been refused, and counted as a failure.
        assert names(database) == sorted(acknowledged)


def test_rows_that_were_read_are_valid_though_the_server_dies_before_the_end(own_server, own_url):
    limits = DatabaseLimits(readers=1)
    database = Database(own_url, limits=limits, write_patience=1.0)
    try:
        add(database, "there")
        for _ in range(3):  # more than the pool has: none is left behind
            with database.read() as session:
                found = [each.name for each in experiments.list_page(session, limit=10)]
                own_server.stop(signal.SIGKILL)
            assert found == ["there"]
            own_server.start()
            assert names(database) == ["there"]
    finally:
        database.close()


def test_a_server_that_stays_away_is_unavailability_until_it_is_back(own_server, own_url):
    with opened(own_url, patience=0.5) as database:
        add(database, "before")
        names(database)
        own_server.stop()
        try:
            with pytest.raises(Unavailable):
                add(database, "during")
            with pytest.raises(Unavailable):
                names(database)
            with pytest.raises(Unavailable):
                database.ping()
        finally:
            own_server.start()

        add(database, "after")
        assert names(database) == ["after", "before"]


def test_a_server_that_is_set_to_be_read_only_is_not_ready(own_server, own_url):
    """What reads goes on; a standby answers like this too."""
    name = make_url(own_url).database
    with psycopg.connect(own_url, autocommit=True) as operator, opened(own_url) as database:
        add(database, "before")
        operator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with opened(own_url, patience=0.2) as database:
        assert names(database) == ["before"]
        with pytest.raises(Unavailable, match="read-only"):
            database.ping()
        with pytest.raises(Unavailable, match="read-only"):
            add(database, "during")


def test_a_server_lost_while_reading_is_unavailability(own_server, own_url):
    def lose():
        with database.read() as session:
            experiments.list_page(session, limit=1)
            own_server.stop()
            try:
                experiments.list_page(session, limit=1)
            finally:
                own_server.start()

    with opened(own_url) as database, pytest.raises(Unavailable):
        lose()


def test_readers_and_writer_survive_connections_that_were_killed(own_url):
    with opened(own_url) as database, opened(own_url) as killer:
        add(database, "before")
        names(database)
        killer.write(
            lambda s: s.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )
            ).all()
        )

        add(database, "after")
        assert names(database) == ["after", "before"]


def test_a_lock_held_by_someone_else_is_waited_for(own_url):
    locked, release = threading.Event(), threading.Event()

    def hold(session):
        session.execute(text("LOCK TABLE experiment IN ACCESS EXCLUSIVE MODE"))
        locked.set()
        release.wait(20)

    with opened(own_url, patience=0.5) as database, opened(own_url) as other:
        held = other.enqueue(hold)
        assert locked.wait(10)
        try:
            with pytest.raises(Unavailable):
                add(database, "during")
        finally:
            release.set()
            held.result(10)

        add(database, "after")
        assert names(database) == ["after"]


@pytest.mark.parametrize(("how", "runs"), [("before", 2), ("after", 1), ("late", 1)])
def test_a_connection_cut_at_its_commit_does_the_work_exactly_once(own_url, proxy, how, runs):
    calls = []

    def count(session):
        calls.append(1)
        number = len(experiments.list_page(session, limit=99))
        experiments.add(session, make_experiment(new_id("e")))
        return number

    with opened(through(proxy, own_url)) as database:
        add(database, "before")
        proxy.cut = how

        # Done twice, it would have counted what it had added itself, and returned 2.
        assert database.write(count) == 1
        assert proxy.cuts == 1
        assert len(calls) == runs
        assert len(names(database)) == 2


def test_each_job_of_a_group_gets_its_own_result_after_a_cut_commit(own_url, proxy):
    started, release = threading.Event(), threading.Event()

    def cut(session):
        proxy.cut = "after"
        return experiments.add(session, make_experiment("good")).name

    with opened(through(proxy, own_url)) as database:
        add(database, "taken")
        database.enqueue(lambda s: (started.set(), release.wait(10)))
        assert started.wait(10)
        good = database.enqueue(cut)
        guilty = database.enqueue(lambda s: experiments.add(s, make_experiment("taken")))
        release.set()

        assert good.result(10) == "good"
        assert "unique" in str(guilty.exception(10))
        assert proxy.cuts == 1
        assert names(database) == ["good", "taken"]


def test_no_result_is_guessed_when_the_server_stays_away_after_a_cut_commit(own_url, proxy):
    """A write was stored, but nobody can find out in time: the result must be `Unavailable`."""
    with opened(through(proxy, own_url), patience=0.5) as database:
        add(database, "before")
        proxy.cut = "after"
        proxy.refuses = True
        with pytest.raises(Unavailable):
            add(database, "during")

        proxy.refuses = False
        assert names(database) == ["before", "during"]
        assert add(database, "later").name == "later"


def test_what_was_claimed_by_a_cut_commit_is_claimed_again(own_url, proxy, tmp_path):
    """The loop got no claim, and to others the submissions are being graded: nobody would."""
    settings = Settings(
        data_dir=tmp_path, database_url=through(proxy, own_url), database_patience_seconds=0.5
    )
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
        world, claims = make_world(context.database), SubmissionClaims(context)
        held = claims.claim(8)
        sent = {world.submit().id, world.submit().id}
        proxy.cut = "after"
        proxy.refuses = True
        with pytest.raises(Unavailable):
            claims.claim(8, held)
        proxy.refuses = False

        again = claims.claim(8, held)
        assert {one.id for one in again} == sent  # and none of those that it holds
        assert {one.attempts for one in again} == {1}
        assert claims.claim(8, [*held, *again]) is None


def test_a_delivery_whose_claim_was_stored_by_a_cut_commit_has_it(
    own_url, proxy, tmp_path, monkeypatch
):
    """Another claim in its place would count as the death of the worker that made the first."""
    monkeypatch.setattr(deliveries, "FAILURE_PAUSE_SECONDS", 0)
    settings = Settings(
        data_dir=tmp_path, database_url=through(proxy, own_url), dispatch="queue",
        database_patience_seconds=0.5,
    )  # fmt: skip
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
        environment.agree(context.database)
        sent = make_world(context.database).submit()

        async def claim():
            ended = ThreadPoolExecutor()
            ended.shutdown()
            asyncio.get_running_loop().set_default_executor(ended)  # so that nothing is graded
            grading = deliveries.Deliveries(context, lambda refusal: None).grade(7, sent.id)
            delivery = asyncio.create_task(grading)
            await asyncio.sleep(1.5)  # longer than a write's patience
            proxy.refuses = False
            await delivery

        proxy.cut = "after"
        proxy.refuses = True
        with pytest.raises(Retry):  # the claim is given back
            asyncio.run(claim())

        assert proxy.cuts == 1
        with context.database.read() as session:
            assert faults.list_faults(session, submission_id=sent.id, limit=9) == []
            (found, _) = submissions.get_submission(session, sent.id)
        assert (found.state, found.attempts) == (SubmissionState.QUEUED, 0)


def test_submissions_of_a_cut_commit_are_found_when_the_server_is_back(own_url, proxy, tmp_path):
    """They are tried one by one then: to insert them again would be an error of Podium's."""
    settings = Settings(
        data_dir=tmp_path, database_url=through(proxy, own_url), database_patience_seconds=1.5
    )
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
        world, started, release = make_world(context.database), threading.Event(), threading.Event()
        context.database.enqueue(lambda s: (started.set(), release.wait(10)))
        assert started.wait(10)

        def cut(session):
            proxy.cut = "after"
            proxy.refuses = True

        context.database.enqueue(cut)
        sent = [make_submission(world.run), make_submission(world.run, idempotency_key="key")]
        stored = [context.inserts.add(each) for each in sent]
        release.set()
        time.sleep(2.0)  # longer than a write's patience
        proxy.refuses = False

        found = [each.result(10) for each in stored]
        assert proxy.cuts == 1
        assert [(each.submission.id, each.created) for each in found] == [
            (each.id, True) for each in sent
        ]
