"""A consumer of the queue: takes jobs side by side, and hands back at the end what is not done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.jobs import DeleteJobCondition, Job
from procrastinate.worker import Worker

from app.errors import PodiumError
from app.queue.connector import PatientConnector
from app.queue.job_manager import FIRST_POSSIBLE_TIME, WorkerJobManager
from app.queue.jobs import TASK
from app.queue.maintenance import WORKER_TIMEOUT, Maintenance

log = logging.getLogger("podium.queue")
POLL_SECONDS = 5.0  # between looks at the queue when nothing is announced
LEAVE_SECONDS = 10.0  # beyond the drain, for handing back; then what is left is found by heartbeat


class Retry(Exception):
    """The submission is not settled: its job goes back to the queue."""


class QueueBroken(PodiumError):
    """The queue cannot be served any more."""


class _Always(BaseRetryStrategy):
    """A job ends when its submission is settled, not before; attempts are counted there."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        return RetryDecision(retry_at=FIRST_POSSIBLE_TIME)


@dataclass(frozen=True)
class ConsumerConfig:
    """What a consumer serves, and how: `shares` are queues served together, and how many at once.

    `heartbeat` and `drain` are seconds: between two signs of life, and for finishing at the end.
    """

    shares: Sequence[tuple[list[str], int]]
    heartbeat: float
    drain: float


class Consumer:
    """Serves the queue of one database until told to stop.

    `grade(job, submission)` sees a submission to its end or raises; when it is cancelled it hands
    the submission back.
    """

    def __init__(
        self,
        url: str,
        terms: ConsumerConfig,
        *,
        grade: Callable[[int, str], Awaitable[None]],
        defer_forgotten: Callable[[], Awaitable[int]],
        is_outage: Callable[[BaseException], bool],
    ) -> None:
        self._terms = terms
        at_once = sum(number for _, number in terms.shares)
        self._connector = PatientConnector(
            url, connections=min(8, at_once + 2), is_outage=is_outage
        )
        self._app = App(connector=self._connector)
        self._jobs = WorkerJobManager(self._connector)
        self._app.job_manager = self._jobs

        async def run(context: JobContext, submission: str) -> None:
            await grade(context.job.id or 0, submission)

        self._app.task(name=TASK, retry=_Always(), pass_context=True)(run)
        self._workers = [self._worker(queues, number) for queues, number in terms.shares]
        self._upkeep = Maintenance(
            self._connector, self._jobs, heartbeat=terms.heartbeat,
            mine=lambda: [w.worker_id for w in self._workers if w.worker_id is not None],
            defer_forgotten=defer_forgotten,
        )  # fmt: skip

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, then drain. Raises what a worker broke down with."""
        async with self._app.open_async():
            side = [
                asyncio.create_task(self._upkeep.beat(), name="heartbeat"),
                asyncio.create_task(self._upkeep.look_after(), name="upkeep"),
            ]
            at_work = [asyncio.create_task(_run(worker)) for worker in self._workers]
            stopping = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait([*side, *at_work, stopping], return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopping.cancel()
                await self._leave(at_work)
                for task in side:
                    task.cancel()
                await asyncio.gather(*side, return_exceptions=True)
        for task in (*side, *at_work):
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error
        if not stop.is_set():
            raise QueueBroken("The queue's listener or loop ended; its log says why.")

    async def _leave(self, at_work: list[asyncio.Task[None]]) -> None:
        """Take no more jobs, let those at work finish within the drain, hand the others back."""
        for worker in self._workers:
            worker.stop()  # type: ignore[no-untyped-call]
        _, late = await asyncio.wait(at_work, timeout=self._terms.drain + LEAVE_SECONDS)
        if late:
            log.warning("not everything could be handed back; other workers will find it")
        for task in late:
            task.cancel()

    def _worker(self, queues: list[str], at_once: int) -> Worker:
        options: dict[str, Any] = {
            "queues": queues,
            "name": "+".join(queues),
            "concurrency": at_once,
            "fetch_job_polling_interval": POLL_SECONDS,
            "shutdown_graceful_timeout": self._terms.drain,
            "delete_jobs": DeleteJobCondition.ALWAYS,
            "install_signal_handlers": False,
            # Our own heartbeat goes on while a worker drains, and revives a worker struck off.
            "update_heartbeat_interval": WORKER_TIMEOUT * self._terms.heartbeat,
            "stalled_worker_timeout": WORKER_TIMEOUT * self._terms.heartbeat,
        }
        return Worker(self._app, **options)


async def _run(worker: Worker) -> None:
    await worker.run()  # type: ignore[no-untyped-call]
