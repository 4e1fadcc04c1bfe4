"""A consumer of the queue outlives errors of the database and of what it runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

import psycopg
import pytest
from sqlalchemy import text

from app.queue import consumer as consumers
from app.queue import jobs, worker_jobs
from app.queue.connector import PatientConnector
from app.queue.consumer import Consumer, ConsumerConfig, Retry
from app.storage.database import migrations
from app.storage.database.database import Database
from app.storage.database.errors import may_pass
from tests.postgres import CLOSE_OTHERS, Postgres

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$;
CREATE TRIGGER refuse BEFORE {what} ON procrastinate_jobs EXECUTE FUNCTION refuse();
"""


@pytest.fixture(autouse=True)
def _asks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.05)


class Queue:
    """A database's queue and its one consumer, which notes the submissions that it is given."""

    def __init__(self, database: Database, url: str) -> None:
        self.database = database
        self.graded: list[str] = []
        self.calls = 0
        self.retries = 0  # how often each submission is given back
        self.error: Exception | None = None
        self.consumer = Consumer(
            url.replace("postgresql+psycopg", "postgresql"),
            ConsumerConfig([(["small"], 2)], heartbeat=0.05, drain=1),
            grade=self._grade, regrade=self._regrade, defer_forgotten=self._defer_forgotten,
            is_outage=may_pass,
        )  # fmt: skip

    def execute(self, statement: str) -> None:
        self.database.write(lambda session: session.execute(text(statement)).close())

    def submit(self, submission: str) -> None:
        self.database.write(lambda session: jobs.defer(session, [(submission, 1, 0)]))

    def left(self) -> int:
        with self.database.read() as session:
            return session.execute(text("SELECT count(*) FROM procrastinate_jobs")).scalar_one()

    def run(self, during: Callable[[], Awaitable[None]]) -> None:
        """Run the consumer for as long as `during`; it must not end before."""

        async def run_both() -> None:
            stop = asyncio.Event()
            running = asyncio.create_task(self.consumer.run(stop))
            meanwhile = asyncio.create_task(during())
            await asyncio.wait([running, meanwhile], return_when=asyncio.FIRST_COMPLETED)
            meanwhile.cancel()
            stop.set()
            await running
            await meanwhile

        asyncio.run(run_both())

    async def _grade(self, job: int, submission: str) -> None:
        self.graded.append(submission)
        if self.retries:
            await asyncio.sleep(0.5)  # the worker finds nothing else meanwhile, and looks at it
        if self.graded.count(submission) <= self.retries:
            raise Retry

    async def _regrade(self, regrade: str, submission: str) -> None:
        raise NotImplementedError

    async def _defer_forgotten(self) -> int:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return 0


@pytest.fixture
def queue(database: Database, database_url: str) -> Iterator[Queue]:
    made = Queue(database, database_url)
    yield made
    made.execute("DROP FUNCTION IF EXISTS refuse CASCADE")  # the database is used again


def sql_ascii(postgres: Postgres, name: str) -> str:
    """The URL of a new, migrated database with the encoding of a cluster without a locale."""
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        options = "TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc"
        connection.execute(f"CREATE DATABASE {name}_ascii {options}")
    url = postgres.url(f"{name}_ascii")
    migrations.upgrade(url)
    return url


async def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@pytest.mark.usefixtures("database_kind")
def test_jobs_are_read_from_a_database_without_an_encoding(
    postgres: Postgres, empty_postgres: str
) -> None:
    """There psycopg gives texts as bytes unless a connection says which encoding it uses."""
    database = Database(sql_ascii(postgres, empty_postgres))
    try:
        queue = Queue(database, postgres.url(f"{empty_postgres}_ascii"))

        async def submit() -> None:
            await asyncio.to_thread(queue.submit, "sub_1")
            await until(lambda: queue.graded == ["sub_1"])

        queue.run(submit)
    finally:
        database.close()
        with psycopg.connect(postgres.url(empty_postgres), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {empty_postgres}_ascii WITH (FORCE)")


def test_an_error_of_the_search_for_forgotten_submissions_ends_no_worker(queue: Queue) -> None:
    queue.error = RuntimeError("can't start new thread")

    async def search_and_submit() -> None:
        await until(lambda: queue.calls > 0)
        await asyncio.sleep(0.1)
        await asyncio.to_thread(queue.submit, "sub_1")
        await until(lambda: queue.graded == ["sub_1"])
        await until(lambda: queue.calls > 1)

    queue.run(search_and_submit)


def test_an_error_of_a_heartbeat_ends_no_worker(queue: Queue) -> None:
    async def rename() -> None:
        await until(lambda: queue.calls > 0)
        await asyncio.to_thread(
            queue.execute, "ALTER TABLE procrastinate_workers RENAME COLUMN last_heartbeat TO beat"
        )
        await asyncio.sleep(0.3)
        await asyncio.to_thread(
            queue.execute, "ALTER TABLE procrastinate_workers RENAME COLUMN beat TO last_heartbeat"
        )
        await asyncio.to_thread(queue.submit, "sub_1")
        await until(lambda: queue.graded == ["sub_1"])

    queue.run(rename)


def test_an_error_of_a_fetch_ends_no_worker_and_is_not_asked_on_and_on(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_jobs, "PAUSE_SECONDS", 0.2)

    async def refuse_for_a_while() -> None:
        await until(lambda: queue.calls > 0)
        await asyncio.to_thread(
            queue.execute,
            REFUSE.format(code="P0001", what="UPDATE").replace("jobs E", "jobs FOR EACH ROW E"),
        )
        await asyncio.to_thread(queue.submit, "sub_1")
        await until(lambda: "cannot fetch a job" in caplog.text)
        for _ in range(50):  # each wakes the worker
            await asyncio.to_thread(queue.submit, "sub_2")
        await asyncio.sleep(0.5)
        await asyncio.to_thread(queue.execute, "DROP FUNCTION refuse CASCADE")
        await until(lambda: "sub_1" in queue.graded)

    queue.run(refuse_for_a_while)
    assert caplog.text.count("cannot fetch a job") < 20


def test_a_notification_that_cannot_be_read_ends_no_worker(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_jobs, "PAUSE_SECONDS", 0.05)

    async def notify() -> None:
        await until(lambda: queue.calls > 0)
        for count in (1, 2):
            await asyncio.sleep(0.3)
            await asyncio.to_thread(
                queue.execute, "SELECT pg_notify('procrastinate_any_queue_v1', 'no JSON'), "
                "pg_notify('procrastinate_queue_v1#small', 'no JSON')",
            )  # fmt: skip
            await until(lambda count=count: caplog.text.count("cannot listen for jobs") >= count)
        await asyncio.to_thread(queue.submit, "sub_1")
        await until(lambda: queue.graded == ["sub_1"])

    queue.run(notify)


def test_a_job_whose_end_cannot_be_written_is_delivered_again(queue: Queue) -> None:
    queue.execute(REFUSE.format(code="P0001", what="DELETE"))
    queue.submit("sub_1")

    async def repair() -> None:
        await until(lambda: queue.graded == ["sub_1"])
        await asyncio.sleep(0.1)
        await asyncio.to_thread(queue.execute, "DROP FUNCTION refuse CASCADE")
        await until(lambda: queue.left() == 0)

    queue.run(repair)
    assert queue.graded == ["sub_1", "sub_1"]


def test_a_job_that_is_given_back_is_delivered_at_once(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when the queue is polled the next time: a submission that fails is tried three times."""
    monkeypatch.setattr(consumers, "POLL_SECONDS", 1000.0)
    queue = Queue(database, database_url)
    queue.retries = 2
    queue.submit("sub_1")

    async def wait() -> None:
        await until(lambda: queue.left() == 0)

    queue.run(wait)
    assert queue.graded == ["sub_1"] * 3  # it was never taken for one that nobody does


def test_a_job_that_was_delivered_again_is_not_given_back_a_second_time(
    database: Database, database_url: str
) -> None:
    """The answer to the first time was lost, and the worker has the job again meanwhile."""
    database.write(lambda session: jobs.defer(session, [("sub_1", 1, 0)]))

    async def give_back_twice() -> None:
        connector = PatientConnector(
            database_url.replace("postgresql+psycopg", "postgresql"), connections=2,
            is_outage=may_pass,
        )  # fmt: skip
        await connector.open_async()
        try:
            manager = worker_jobs.WorkerJobManager(connector)
            worker = await manager.register_worker()
            first = await manager.fetch_job(["small"], worker)
            assert first is not None
            await manager.retry_job(first)
            again = await manager.fetch_job(["small"], worker)
            await manager.retry_job(first)

            assert list(manager.running.values()) == [again]
            assert await manager.fetch_job(["small"], worker) is None
        finally:
            await connector.close_async()

    asyncio.run(give_back_twice())


def test_a_job_that_cannot_be_queued_again_keeps_no_other_from_it(queue: Queue) -> None:
    queue.submit("sub_1")
    queue.submit("sub_2")
    queue.execute(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 second'); "
        "UPDATE procrastinate_jobs SET status = 'doing',"
        " worker_id = (SELECT max(id) FROM procrastinate_workers);"
        + REFUSE.format(code="P0001", what="UPDATE OF status").replace(
            "procrastinate_jobs EXECUTE",
            "procrastinate_jobs FOR EACH ROW WHEN (OLD.args->>'submission' = 'sub_1') EXECUTE",
        )
    )

    async def wait_for_the_other() -> None:
        await until(lambda: queue.graded == ["sub_2"])

    queue.run(wait_for_the_other)


def test_a_worker_waits_while_the_disk_of_the_queue_is_full(queue: Queue) -> None:
    queue.execute(REFUSE.format(code="53100", what="UPDATE"))
    queue.submit("sub_1")

    async def make_room() -> None:
        await asyncio.sleep(0.3)
        assert queue.graded == []
        await asyncio.to_thread(queue.execute, "DROP FUNCTION refuse CASCADE")
        await until(lambda: queue.graded == ["sub_1"])

    queue.run(make_room)


def test_a_query_that_fails_beside_others_is_one_outage(
    database: Database, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = database_url.replace("postgresql+psycopg", "postgresql")

    async def ask() -> int:
        connector = PatientConnector(url, connections=2, is_outage=may_pass)
        await connector.open_async()
        try:
            fails = asyncio.create_task(
                connector.execute_query_async(
                    "DO $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$"
                )
            )
            for _ in range(40):
                await connector.execute_query_one_async("SELECT 1 AS one")
                await asyncio.sleep(0.01)
            fails.cancel()
            await asyncio.wait([fails])
            return connector.outages
        finally:
            await connector.close_async()

    assert asyncio.run(ask()) == 1
    assert [one.message for one in caplog.records if "is back" in one.message] == []


def test_each_outage_is_logged_beside_a_listener(
    database: Database, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = database_url.replace("postgresql+psycopg", "postgresql")

    async def ignore(*, channel: str, payload: str) -> None:
        pass

    async def lose_the_connection_twice() -> None:
        connector = PatientConnector(url, connections=3, is_outage=may_pass)
        await connector.open_async()
        listening = asyncio.create_task(connector.listen_notify(ignore, ["any"]))
        try:
            for _ in range(2):
                await asyncio.sleep(0.2)
                await asyncio.to_thread(
                    database.write, lambda session: session.execute(text(CLOSE_OTHERS)).close()
                )
                await connector.execute_query_one_async("SELECT 1 AS one")
        finally:
            listening.cancel()
            await asyncio.wait([listening])
            await connector.close_async()

    asyncio.run(lose_the_connection_twice())

    said = [one.message for one in caplog.records if one.name == "podium.queue"]
    assert [one.partition(":")[0] for one in said] == ["the queue is away", "the queue is back"] * 2
