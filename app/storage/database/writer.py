"""The writer thread: commit all waiting writes together, with one sync of the disk.

The functions of writes must be repeatable: the writer runs them again after an outage, and after
another function of their group failed. So they change nothing but the database, neither commit nor
roll back, and do not catch database errors.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.errors import Unavailable
from app.storage.database import commit_marks, notify
from app.storage.database.errors import is_full, is_outage, outage_in_words
from app.storage.database.write_jobs import (
    FailedWrite,
    JobGroup,
    WriteJob,
    call_alone,
    resolve,
)

GROUP_SIZE = 256  # limits how long a write waits for others: 256 inserts take some 40 ms
MAX_PAUSE_SECONDS = 0.5  # between attempts while the database is away
Result = TypeVar("Result")
log = logging.getLogger(__name__)


class Writer:
    """A thread that runs functions in transactions, in the order in which they were added.

    `patience` is how many seconds a function may wait for a database that is locked or away.
    `keeps_marks` is needed if the answer to a COMMIT can be lost, as over a network. The
    writer's thread calls `on_notify` with the ids that this process has to notify. `outages` counts
    how often an attempt found the database locked or away.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        patience: float,
        keeps_marks: bool,
        on_notify: Callable[[list[str]], None] = lambda ids: None,
    ) -> None:
        self._engine = engine
        self._patience = patience
        self._keeps_marks = keeps_marks
        self._on_notify = on_notify
        self.outages = 0
        self._name = uuid.uuid4().hex
        self._number = 0
        self._has_mark = False
        self._queue: queue.SimpleQueue[WriteJob | None] = queue.SimpleQueue()
        self._groups: deque[JobGroup] = deque()
        self._is_ending = False
        self._lock = threading.Lock()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="podium-writer", daemon=True)
        self._thread.start()

    def enqueue(self, function: Callable[[Session], Result]) -> Future[Result]:
        """Add a function. The future is done once its result is committed.

        The future raises the error of the function, `Unavailable` if the database stays locked or
        away, or `StorageFull` if its disk is full.

        Raises:
            Unavailable: the writer was closed.
        """
        job = WriteJob(function, time.monotonic() + self._patience)
        with self._lock:
            if self._is_closed:
                raise Unavailable("Podium is shutting down.")
            self._queue.put(job)
        return job.future

    def write(self, function: Callable[[Session], Result]) -> Result:
        """Add a function and wait until its result is committed. Raises the future's errors."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a write cannot wait for another write: call its function instead")
        return self.enqueue(function).result()

    def close(self) -> None:
        """Commit the waiting writes, then stop."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        while self._groups or self._collect(wait=True):
            group = self._groups[0]
            try:
                outcomes = self._attempt(group)
            except BaseException as error:
                if not is_outage(error):
                    self._isolate(self._groups.popleft(), error)
                    continue
                self.outages += 1
                if not pause:
                    log.warning("%s: %s", outage_in_words(error), _reason(error))
                time.sleep(pause)
                pause = min(MAX_PAUSE_SECONDS, max(0.02, 2 * pause))
                self._fail_late_jobs(error)
            else:
                pause = 0.0
                self._groups.popleft()
                resolve(group.jobs, outcomes)
        self._remove_mark()

    def _collect(self, *, wait: bool) -> bool:
        """Make a group of the waiting jobs. Returns whether there were any.

        With `wait`, wait for a job. False then means that the writer is closed.
        """
        jobs: list[WriteJob] = []
        while len(jobs) < GROUP_SIZE and not self._is_ending:
            try:
                job = self._queue.get(block=wait and not jobs)
            except queue.Empty:
                break
            if job is None:
                self._is_ending = True
            elif job.future.set_running_or_notify_cancel():
                jobs.append(job)
        if jobs:
            self._groups.append(JobGroup(jobs))
        return bool(jobs)

    def _attempt(self, group: JobGroup) -> list[Any]:
        """The committed outcomes of a group. Raises outages, and the error of a group of one."""
        if group.outcomes is not None:
            if self._was_committed():
                return group.outcomes
            group.outcomes = None
            group.jobs = [job for job in group.jobs if not job.future.done()]
        try:
            return self._commit(group, one_by_one=False)
        except Exception as error:
            if len(group.jobs) == 1 or is_outage(error) or is_full(error):
                raise
        return self._commit(group, one_by_one=True)

    def _commit(self, group: JobGroup, *, one_by_one: bool) -> list[Any]:
        """Run the functions and commit. With `one_by_one`, each can fail without the others."""
        if self._keeps_marks and not self._has_mark:
            self._create_mark()
        with Session(self._engine, expire_on_commit=False) as session:  # it has no objects
            # If not one by one, an error ends the transaction of the group.
            outcomes = [
                call_alone(job.function, session) if one_by_one else job.function(session)
                for job in group.jobs
            ]
            if self._keeps_marks:
                self._number += 1
                commit_marks.stamp(session, self._name, self._number)
            own_ids = notify.send(session)
            try:
                session.commit()
            except Exception as error:
                if self._keeps_marks and is_outage(error):
                    group.outcomes = outcomes
                raise
        if own_ids:
            self._on_notify(own_ids)
        return outcomes

    def _isolate(self, group: JobGroup, error: BaseException) -> None:
        """Retry each job of a failed group in its own transaction. Fail a group of one."""
        if len(group.jobs) == 1:
            resolve(group.jobs, [FailedWrite(error)])
        else:
            self._groups.extendleft(JobGroup([job]) for job in reversed(group.jobs))

    def _fail_late_jobs(self, error: BaseException) -> None:
        """Fail the jobs that have waited too long, including new ones; keep the others."""
        while self._collect(wait=False):
            pass
        now = time.monotonic()
        for group in self._groups:
            late = [job for job in group.jobs if job.deadline <= now]
            resolve(late, [FailedWrite(error)] * len(late))
            if group.outcomes is None:
                group.jobs = [job for job in group.jobs if not job.future.done()]
        live = (g for g in self._groups if any(not job.future.done() for job in g.jobs))
        self._groups = deque(live)

    def _create_mark(self) -> None:
        with Session(self._engine) as session:
            commit_marks.stamp(session, self._name, 0)
            session.commit()
        self._has_mark = True

    def _was_committed(self) -> bool:
        with Session(self._engine) as session:
            return commit_marks.was_committed(session, self._name, self._number)

    def _remove_mark(self) -> None:
        if not self._has_mark:
            return
        try:
            with Session(self._engine) as session:
                commit_marks.remove(session, self._name)
                session.commit()
        except Exception as error:
            # The row stays. It does no harm, because no other writer will have this name.
            log.warning("cannot remove the writer's mark: %s", _reason(error))


def _reason(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).strip()
