"""The throughput of one PostgreSQL's queue: empty jobs, fetched by several processes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time

from sqlalchemy import text

from app.queue import jobs
from app.queue.consumer import Consumer, ConsumerConfig
from app.queue.sizes import SMALL
from app.storage.database import migrations
from app.storage.database.database import Database
from app.storage.database.errors import is_outage
from tests.postgres import OwnServer

WARM = 200
JOBS = 4000
AT_ONCE = 8  # of one consumer
CONSUMERS = (1, 2, 4)
LEFT = text("SELECT count(*) FROM procrastinate_jobs")


def limit(postgres: OwnServer) -> None:
    """Jobs a second, from the first one queued to the last one ended, by number of consumers."""
    with postgres.database() as name:
        url = postgres.url(name)
        migrations.upgrade(url)
        database = Database(url)
        try:
            found = [f"{number}: {speed(database, url, number):.0f}/s" for number in CONSUMERS]
        finally:
            database.close()
    print(f"  the queue alone, jobs that do nothing, by number of workers: {', '.join(found)}")


def speed(database: Database, url: str, consumers: int) -> float:
    with contextlib.ExitStack() as stack:
        for _ in range(consumers):
            process = subprocess.Popen([sys.executable, "-m", "benchmarks.queue", url])
            stack.callback(process.wait)
            stack.callback(process.terminate)
        pass_on(database, WARM * consumers)
        return JOBS / pass_on(database, JOBS)


def pass_on(database: Database, number: int) -> float:
    """Seconds until so many jobs were queued, fetched and ended."""
    started = time.perf_counter()
    for first in range(0, number, 200):
        some = [(f"job-{first + n}", 1, 0) for n in range(min(200, number - first))]
        database.write(lambda session, some=some: jobs.defer(session, some))
    while True:
        with database.read() as session:
            if not session.execute(LEFT).scalar_one():
                return time.perf_counter() - started
        time.sleep(0.02)


async def consume(url: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    async def nothing(job: int, submission: str) -> None:
        """The job is done."""

    async def no_regrade(regrade: str, submission: str) -> None:
        """No such job is made here."""

    async def none_forgotten() -> int:
        return 0

    consumer = Consumer(
        url,
        ConsumerConfig([([SMALL], AT_ONCE)], heartbeat=5.0, drain=5.0),
        grade=nothing,
        regrade=no_regrade,
        defer_forgotten=none_forgotten,
        is_outage=is_outage,
    )
    await consumer.run(stop)


if __name__ == "__main__":
    asyncio.run(consume(sys.argv[1]))
