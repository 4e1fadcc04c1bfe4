"""What keeps the queue whole: heartbeats, and the jobs of workers that are heard of no more.

Times are the database's: a worker's heartbeat is written and judged by PostgreSQL's clock, so the
clocks of the machines may differ by any amount.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable

from procrastinate.jobs import Job

from app.queue.connector import PatientConnector
from app.queue.job_manager import WorkerJobManager

log = logging.getLogger("podium.queue")
MISSED_HEARTBEATS = 4  # heartbeats not heard, and a worker is taken for dead
CHECK_INTERVAL = (
    3  # in a row that must find a job abandoned: a database that was away needs time to hear
)
BATCH_SIZE = (
    MISSED_HEARTBEATS + CHECK_INTERVAL
)  # heartbeats after which a dead worker's jobs are in the queue again
WORKER_TIMEOUT = 60  # heartbeats after which a dead worker is forgotten
FORGOTTEN_EVERY = 12  # looks


class Maintenance:
    """One worker's part in it. `mine` says under which numbers this worker is registered now."""

    def __init__(
        self,
        connector: PatientConnector,
        jobs: WorkerJobManager,
        *,
        heartbeat: float,
        mine: Callable[[], Iterable[int]],
        defer_forgotten: Callable[[], Awaitable[int]],
    ) -> None:
        self._connector = connector
        self._jobs = jobs
        self._heartbeat = heartbeat
        self._mine = mine
        self._defer_forgotten = defer_forgotten
        self._suspects: Counter[tuple[int | None, int | None]] = Counter()
        self._outages = 0

    async def beat(self) -> None:
        """Say that this worker lives, until cancelled: to the very end, also while it drains."""
        while True:
            for number in self._mine():
                await self._jobs.update_heartbeat(number)
            await asyncio.sleep(self._heartbeat)

    async def look_after(self) -> None:
        """Give abandoned jobs back to the queue, until cancelled."""
        looks = 0
        while True:
            await asyncio.sleep(self._heartbeat)
            await self._take_back(await self._abandoned())
            looks += 1
            if looks % FORGOTTEN_EVERY == 1 and await self._is_leader():
                found = await self._defer_forgotten()
                if found:
                    log.warning("submissions without a job were queued", extra={"number": found})
                await self._jobs.prune_stalled_workers(WORKER_TIMEOUT * self._heartbeat)

    async def _abandoned(self) -> list[Job]:
        """Jobs that nobody is at: of dead workers, if this one leads, and lost ones of its own."""
        found: list[Job] = []
        if await self._is_leader():
            found += await self._jobs.get_stalled_jobs(
                seconds_since_heartbeat=MISSED_HEARTBEATS * self._heartbeat
            )
        for number in self._mine():
            # The answer to "give me a job" can be lost with a connection, and then nobody has it.
            own = await self._jobs.list_jobs_async(status="doing", worker_id=number)
            found += [job for job in own if job.id not in self._jobs.at_work]
        return found

    async def _take_back(self, found: list[Job]) -> None:
        """Give back those that were found at several looks in a row, between which all was well.

        After an outage of the database every worker looks dead, for as long as its next heartbeat
        takes.
        """
        if self._connector.outages != self._outages:
            self._outages = self._connector.outages
            self._suspects.clear()
        seen = {(job.id, job.worker_id): job for job in found}
        self._suspects = Counter({key: self._suspects[key] + 1 for key in seen})
        for key, count in self._suspects.items():
            if count >= CHECK_INTERVAL:
                job = seen[key]
                log.warning(
                    "a job whose worker is gone is queued again",
                    extra={"job": job.id, "worker": job.worker_id, **job.task_kwargs},
                )
                await self._jobs.take_back(job)

    async def _is_leader(self) -> bool:
        """Whether this is the eldest worker alive: one looks after all, however many there are."""
        return await self._jobs.leader(MISSED_HEARTBEATS * self._heartbeat) in set(self._mine())
