"""A consumer of the queue: run jobs concurrently, and return unfinished ones at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.jobs import DeleteJobCondition, Job
from procrastinate.worker import Worker

from app.errors import PodiumError
from app.queue.connector import PatientConnector
from app.queue.jobs import REGRADE_TASK, TASK
from app.queue.maintenance import WORKER_TIMEOUT, Maintenance
from app.queue.sizes import with_own_metric
from app.queue.worker_jobs import FIRST_POSSIBLE_TIME, WorkerJobManager

log = logging.getLogger("podium.queue")
POLL_SECONDS = 5.0  # between queries of the queue without a notification
NEVER_SECONDS = 1e8  # three years
HAND_BACK_SECONDS = 10.0  # after the drain, to return jobs; maintenance requeues the others
CHECK_SECONDS = 0.5  # between two checks of what delays a drain
END_SECONDS = 8.0  # for workers to end that no longer wait for the database


class Retry(Exception):
    """The submission is not settled. Its job returns to the queue."""


class QueueBroken(PodiumError):
    """The consumer cannot continue."""


class _Always(BaseRetryStrategy):
    """Retries a job until its submission is settled. The submission's row counts attempts."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        return RetryDecision(retry_at=FIRST_POSSIBLE_TIME)


@dataclass(frozen=True)
class ConsumerConfig:
    """The options of a consumer.

    `shares` lists groups of queues with the number of concurrent jobs of each group. The number
    applies twice: to competitions with a metric.py, which have separate queues, and to all others.
    `heartbeat` is the seconds between two heartbeats, `drain` the seconds for finishing jobs at the
    end.
    """

    shares: Sequence[tuple[list[str], int]]
    heartbeat: float
    drain: float


class Consumer:
    """Runs the jobs of one database's queue until it is stopped.

    `grade(job, submission)` grades the submission or raises; `regrade(regrade, submission)` grades
    it again for a regrade. If cancelled, they return the submission.
    """

    def __init__(
        self,
        url: str,
        config: ConsumerConfig,
        *,
        grade: Callable[[int, str], Awaitable[None]],
        regrade: Callable[[str, str], Awaitable[None]],
        defer_forgotten: Callable[[], Awaitable[int]],
        is_outage: Callable[[BaseException], bool],
    ) -> None:
        self._config = config
        shares = [
            ([*queues, *map(with_own_metric, queues)], number) for queues, number in config.shares
        ]
        concurrency = sum(2 * number for _, number in shares)
        self._connector = PatientConnector(
            url, connections=min(8, concurrency + 2), is_outage=is_outage
        )
        self._app = App(connector=self._connector)
        self._jobs = WorkerJobManager(self._connector, shares)
        self._app.job_manager = self._jobs

        async def run(context: JobContext, submission: str) -> None:
            await grade(context.job.id or 0, submission)

        async def run_again(submission: str, regrade_id: str) -> None:
            await regrade(regrade_id, submission)

        self._app.task(name=TASK, retry=_Always(), pass_context=True)(run)
        self._app.task(name=REGRADE_TASK, retry=_Always())(run_again)
        self._workers = [self._worker(queues, 2 * number) for queues, number in shares]
        self._maintenance = Maintenance(
            self._connector, self._jobs, heartbeat=config.heartbeat,
            own_ids=lambda: [w.worker_id for w in self._workers if w.worker_id is not None],
            defer_forgotten=defer_forgotten,
        )  # fmt: skip

    async def run(self, stop: asyncio.Event) -> None:
        """Run jobs until `stop` is set, then drain. Raises the error of a failed worker."""
        async with self._app.open_async():
            background = [
                asyncio.create_task(self._maintenance.send_heartbeats(), name="heartbeat"),
                asyncio.create_task(self._maintenance.requeue_abandoned(), name="upkeep"),
            ]
            running = [asyncio.create_task(_run(worker)) for worker in self._workers]
            stopping = asyncio.create_task(stop.wait())
            late: set[asyncio.Task[None]] = set()
            try:
                await asyncio.wait(
                    [*background, *running, stopping], return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                stopping.cancel()
                late = await self._drain(running)
                for task in background:
                    task.cancel()
                await asyncio.gather(*background, return_exceptions=True)
                if late:
                    await self._abandon(late)
        for task in {*background, *running} - late:
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error
        if not stop.is_set():
            raise QueueBroken("The queue's listener or loop ended; see the log for the reason.")

    async def _drain(self, running: list[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Fetch no more jobs, let running ones finish within the drain, and return the others.

        Returns the workers that did not end by themselves. While the database is away, it does not
        wait for workers without a job, because they have nothing to return.
        """
        for worker in self._workers:
            worker.stop()  # type: ignore[no-untyped-call]
        loop = asyncio.get_running_loop()
        end = loop.time() + self._config.drain + HAND_BACK_SECONDS
        late = set(running)
        while late and loop.time() < end and (self._jobs.running or not self._connector.is_away):
            _, late = await asyncio.wait(late, timeout=min(CHECK_SECONDS, end - loop.time()))
        return late

    async def _abandon(self, late: set[asyncio.Task[None]]) -> None:
        """End workers that wait for the database.

        If the database is back and one of them fetches a job meanwhile, the job is requeued like
        those of a dead worker.
        """
        if self._jobs.running:
            log.warning("some jobs were not returned; other workers will requeue them")
        self._connector.give_up()
        for task in late:
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await asyncio.gather(*late, return_exceptions=True)

    def _worker(self, queues: list[str], concurrency: int) -> Worker:
        options: dict[str, Any] = {
            "queues": queues,
            "name": "+".join(queues),
            "concurrency": concurrency,
            "fetch_job_polling_interval": POLL_SECONDS,
            "shutdown_graceful_timeout": self._config.drain,
            "delete_jobs": DeleteJobCondition.ALWAYS,
            "install_signal_handlers": False,
            # `Maintenance` sends heartbeats, also during the drain and for a pruned worker. An
            # error of one that the library sends would end the worker.
            "update_heartbeat_interval": NEVER_SECONDS,
            "stalled_worker_timeout": WORKER_TIMEOUT * self._config.heartbeat,
        }
        return Worker(self._app, **options)


async def _run(worker: Worker) -> None:
    await worker.run()  # type: ignore[no-untyped-call]
