"""Maintenance of the queue: send heartbeats, and requeue the jobs of dead workers.

All times are the database's: heartbeats are written and compared by PostgreSQL's clock, so the
clocks of the machines may differ by any amount.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable

from procrastinate.jobs import Job

from app.queue.connector import PatientConnector
from app.queue.jobs import MISSED_HEARTBEATS
from app.queue.worker_jobs import WorkerJobManager

log = logging.getLogger("podium.queue")
# A job is requeued after this number of consecutive checks found it abandoned: after an outage of
# the database, live workers need time for a heartbeat.
CONFIRMATIONS = 3
WORKER_TIMEOUT = 60  # heartbeats after which a dead worker's row is pruned
FORGOTTEN_EVERY = 12  # checks


class Maintenance:
    """The maintenance by one worker. `own_ids()` returns the numbers of its rows."""

    def __init__(
        self,
        connector: PatientConnector,
        jobs: WorkerJobManager,
        *,
        heartbeat: float,
        own_ids: Callable[[], Iterable[int]],
        defer_forgotten: Callable[[], Awaitable[int]],
    ) -> None:
        self._connector = connector
        self._jobs = jobs
        self._heartbeat = heartbeat
        self._own_ids = own_ids
        self._defer_forgotten = defer_forgotten
        self._suspects: Counter[tuple[int | None, int | None]] = Counter()
        self._outages = 0

    async def send_heartbeats(self) -> None:
        """Send heartbeats until cancelled, also while the worker drains."""
        while True:
            for number in self._own_ids():
                await _logging_errors(self._jobs.update_heartbeat(number))
            await asyncio.sleep(self._heartbeat)

    async def requeue_abandoned(self) -> None:
        """Return abandoned jobs to the queue, until cancelled."""
        for check in itertools.count():
            await asyncio.sleep(self._heartbeat)
            await _logging_errors(self._requeue_confirmed())
            if check % FORGOTTEN_EVERY == 0:
                await _logging_errors(self._look_for_forgotten())

    async def _look_for_forgotten(self) -> None:
        if not await self._is_leader():
            return
        found = await self._defer_forgotten()
        if found:
            log.warning("submissions without a job were queued", extra={"number": found})
        await self._jobs.prune_stalled_workers(WORKER_TIMEOUT * self._heartbeat)

    async def _abandoned(self) -> list[Job]:
        """Abandoned jobs: of dead workers, if this is the leader, and this worker's lost jobs."""
        found: list[Job] = []
        if await self._is_leader():
            found += await self._jobs.get_stalled_jobs(
                seconds_since_heartbeat=MISSED_HEARTBEATS * self._heartbeat
            )
        for number in self._own_ids():
            # If the answer to a fetch is lost with the connection, nobody runs the job.
            own = await self._jobs.list_jobs_async(status="doing", worker_id=number)
            found += [job for job in own if job.id not in self._jobs.running]
        return found

    async def _requeue_confirmed(self) -> None:
        """Requeue jobs that several checks in a row found abandoned, without an outage between.

        After an outage of the database every worker seems dead until its next heartbeat.
        """
        found = await self._abandoned()
        if self._connector.outages != self._outages:
            self._outages = self._connector.outages
            self._suspects.clear()
        seen = {(job.id, job.worker_id): job for job in found}
        self._suspects = Counter({key: self._suspects[key] + 1 for key in seen})
        for key, count in self._suspects.items():
            if count >= CONFIRMATIONS:
                job = seen[key]
                log.warning(
                    "a job whose worker is gone is queued again",
                    extra={"job": job.id, "worker": job.worker_id, **job.task_kwargs},
                )
                await _logging_errors(self._jobs.requeue(job))

    async def _is_leader(self) -> bool:
        """Whether this worker is the leader: one live worker maintains the queue for all."""
        return await self._jobs.leader(MISSED_HEARTBEATS * self._heartbeat) in set(self._own_ids())


async def _logging_errors(step: Awaitable[None]) -> None:
    """Do a step. Its error must not end the worker, whose gradings continue, or other steps."""
    try:
        await step
    except Exception:
        log.exception("a step of the queue's maintenance failed")
