"""Procrastinate's job manager for one worker.

It ends only jobs that are still the worker's own, and limits the jobs of each kind of metric.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
from collections.abc import Iterable
from typing import Any

import psycopg
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Notification, Status
from procrastinate.manager import JobManager, NotificationCallback, get_channel_for_queues

from app.queue.sizes import is_of_own_metric

log = logging.getLogger("podium.queue")
_A_JOB: Notification = {"type": "job_inserted", "job_id": 0}
PAUSE_SECONDS = 1.0  # after an unexpected error, so that its cause is not queried all the time
# In the past by every machine's clock, so it means "at once" even if a clock is wrong.
FIRST_POSSIBLE_TIME = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
# Locks the row first, so that the function sees it after other transactions have ended. `attempts`
# grows when a job is returned: this worker may have fetched it again already.
OWN_JOB = (
    "WITH mine AS MATERIALIZED (SELECT id FROM procrastinate_jobs WHERE id = %(job_id)s "
    "AND status = 'doing' AND attempts = %(attempts)s "
    "AND worker_id IS NOT DISTINCT FROM %(worker_id)s::bigint FOR UPDATE) "
)
FINISH = OWN_JOB + (
    "SELECT procrastinate_finish_job_v1(id, %(end)s::procrastinate_job_status, %(delete)s) "
    "FROM mine"
)
# The library notifies workers only of new jobs. Without this they would find a returned job only at
# their next poll.
RETRY_OWN = (
    "SELECT procrastinate_retry_job_v2(id, %(at)s::timestamptz, NULL, NULL, NULL), "
    "pg_notify(%(channel)s, %(notification)s) FROM mine"
)
RETRY = OWN_JOB + RETRY_OWN
# A live worker that was presumed dead and pruned gets its row back, with its own number.
HEARTBEAT = (
    "INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE "
    "VALUES (%(worker_id)s, now()) ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()"
)
LEADER = (
    "SELECT min(id) AS id FROM procrastinate_workers "
    "WHERE last_heartbeat > now() - make_interval(secs => %(seconds)s)"
)


class WorkerJobManager(JobManager):
    """The library's manager, made safe for workers that freeze or lose answers.

    A worker that was presumed dead may resume and end a job that another worker has by now. So a
    job is finished or returned only while the queue's row names this worker. `running` has the jobs
    that this worker has fetched and not ended, with their queues.

    A metric.py may hang, or a file may make it slow. So the number of jobs of each of the `shares`
    applies twice: to files of competitions with a metric.py, and to those of others.
    """

    def __init__(self, connector: Any, shares: Iterable[tuple[Iterable[str], int]] = ()) -> None:
        super().__init__(connector)
        self.running: dict[int, Job] = {}
        self._kinds = {  # for each queue: the queues of its kind, and their number of jobs together
            queue: (kind, places)
            for queues, places in shares
            for kind in _kinds(queues)
            for queue in kind
        }
        # Called so that a queue's consumer fetches again.
        self._wake: dict[str, NotificationCallback] = {}
        self._notifications = 0

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Fetch the next job. Query again if a job was notified during the query.

        An unexpected error is logged, and the next poll queries again. It must not end the worker,
        whose gradings continue.
        """
        try:
            return await self._fetch(queues, worker_id)
        except Exception:
            log.exception("cannot fetch a job")
            await asyncio.sleep(PAUSE_SECONDS)
            return None

    async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        while True:
            seen = self._notifications
            wanted = queues and [queue for queue in queues if self._has_place(queue)]
            try:
                job = await super().fetch_job(wanted, worker_id)
            except ConnectorException as error:
                if not isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
                    raise
                await self.update_heartbeat(worker_id)  # another worker has pruned this one
                continue
            if job is not None and job.id is not None:
                self.running[job.id] = job
            if job is not None or seen == self._notifications:
                return job

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job, if it is still this worker's."""
        await self._end(job, FINISH, end=status.value, delete=delete_job)

    async def retry_job(
        self,
        job: Job,
        retry_at: dt.datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Return a job to its queue, if it is still this worker's."""
        await self._end(job, RETRY, at=retry_at or FIRST_POSSIBLE_TIME, **_notification(job))

    async def requeue(self, job: Job) -> None:
        """Return the job of a dead worker to its queue, unless another worker has it now."""
        await self._execute(RETRY, job, at=FIRST_POSSIBLE_TIME, **_notification(job))

    async def update_heartbeat(self, worker_id: int) -> None:
        """Write a heartbeat of this worker, by the database's clock."""
        await self.connector.execute_query_async(HEARTBEAT, worker_id=worker_id)

    async def leader(self, seconds: float) -> int | None:
        """The worker with the lowest number among those with a heartbeat in the last `seconds`."""
        row = await self.connector.execute_query_one_async(LEADER, seconds=seconds)
        return None if row["id"] is None else int(row["id"])

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Listen for jobs, and count the notifications. After an error, listen again."""

        async def count(*, channel: str, notification: Notification) -> None:
            self._notifications += 1
            await on_notification(channel=channel, notification=notification)

        self._wake |= dict.fromkeys(queues or (), count)
        while True:
            try:
                await super().listen_for_jobs(on_notification=count, queues=queues)
            except Exception:
                log.exception("cannot listen for jobs; they are polled for meanwhile")
            await asyncio.sleep(PAUSE_SECONDS)

    async def _end(self, job: Job, query: str, **arguments: Any) -> None:
        try:
            await self._execute(query, job, **arguments)
        finally:  # if this fails, maintenance finds the abandoned job
            had_place = self._has_place(job.queue)
            if job.id is not None and self.running.get(job.id) is job:  # not fetched again yet
                del self.running[job.id]
            if job.queue in self._wake and not had_place:  # others of its kind may be fetched now
                await self._wake[job.queue](channel="", notification=_A_JOB)

    def _has_place(self, queue: str | None) -> bool:
        """Whether one more job of this queue may be fetched."""
        if queue not in self._kinds:
            return True
        kind, places = self._kinds[queue]
        return sum(other.queue in kind for other in self.running.values()) < places

    async def _execute(self, query: Any, job: Job, **arguments: Any) -> None:
        own = {"job_id": job.id, "attempts": job.attempts, "worker_id": job.worker_id}
        await self.connector.execute_query_async(query, **own, **arguments)


def _notification(job: Job) -> dict[str, str]:
    """The channel to which a job's queue listens, and a notification that there is a job."""
    (channel,) = get_channel_for_queues([job.queue])
    return {"channel": channel, "notification": json.dumps(_A_JOB)}


def _kinds(queues: Iterable[str]) -> tuple[set[str], set[str]]:
    own_metric = {queue for queue in queues if is_of_own_metric(queue)}
    return own_metric, {*queues} - own_metric
