"""The graders: warm processes that do jobs side by side, each replaced when it must be killed."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import reduce
from pathlib import Path
from typing import Any, Self

from app.domain.verdict import Verdict
from app.errors import GradingFault, Unavailable
from app.graders.cache import CacheCounts
from app.graders.grader_slot import GraderLimits, GraderSlot, Task, Tasks
from app.graders.isolation import Isolation
from app.graders.process import Job, Role
from app.graders.results import CompetitionCheck, GraderFault, GradingResult


class GraderPool:
    """`processes` graders, and one more process that validates and never opens an answers file.

    With no `processes`, one grader is started when there is something to do, as for an import, and
    ended when there is no more. `validates=False` leaves out the process that validates.

    A job may take `seconds` of wall-clock time and `memory_mb` beyond what a warm grader needs;
    one that takes more, or that kills its grader, ends as a `GraderFault` and disturbs no other.
    Every future comes to its end: with a result, or cancelled when the pool is closed. Callbacks
    of futures run in the thread that serves a grader, so they should be short.

    Competitions with a metric.py are graded in processes of their own, which are started when such
    a competition comes. With `requires_isolation` they are refused, by a fault that names what is
    missing, where this machine does not allow every wall of `Isolation`.
    """

    def __init__(
        self,
        *,
        processes: int,
        seconds: float,
        memory_mb: int,
        cache_mb: int,
        validates: bool = True,
        requires_isolation: bool = False,
    ) -> None:
        self._closed = threading.Event()
        self._grading: Tasks = queue.SimpleQueue()
        self._validating: Tasks = queue.SimpleQueue()
        limits = GraderLimits(seconds, memory_mb, cache_mb, requires_isolation)
        self._slots = [
            GraderSlot("grade", self._grading, self._closed, limits, on_demand=processes == 0)
            for _ in range(max(1, processes))
        ]
        if validates:
            self._slots.append(GraderSlot("validate", self._validating, self._closed, limits))
        for slot in self._slots:
            slot.thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def grade(
        self,
        version_dir: Path,
        file: Path,
        sha256: str = "",
        begun: Callable[[], None] = lambda: None,
    ) -> Future[GradingResult]:
        """Grade a submission file against a competition version's private answers.

        If it has other bytes than `sha256` says, that is a fault of kind `storage`. `begun` is
        called when a grader is about to get the file, in the thread that serves the grader.
        """
        return self._put(self._grading, Job("grade", version_dir, file, sha256), begun)

    def check_competition(self, version_dir: Path) -> Future[CompetitionCheck | GraderFault]:
        """Try a competition before it is imported; nothing of it is kept."""
        return self._put(self._grading, Job("check", version_dir))

    def validate(self, version_dir: Path, file: Path) -> Future[Verdict | GraderFault]:
        """Check a file's form against the declared columns and the public ids."""
        return self._put(self._validating, Job("validate", version_dir, file))

    def warm_up(self, seconds: float = 120.0) -> None:
        """Wait until every process is ready.

        Raises:
            GradingFault: one could not be started, or was not ready in time.
        """
        deadline = time.monotonic() + seconds
        while not self.is_ready():
            trouble = next((slot.trouble for slot in self._slots if slot.trouble), "")
            if trouble or time.monotonic() > deadline:
                raise GradingFault(f"graders do not start: {trouble or 'too slow'}")
            time.sleep(0.01)

    def is_ready(self) -> bool:
        """Whether every process is warm and alive."""
        return not self._closed.is_set() and all(slot.is_ready() for slot in self._slots)

    def pids(self, role: Role | None = None) -> tuple[int, ...]:
        """The process ids of those that run now, of one role or of both."""
        running = [item for slot in self._slots for item in list(slot.processes.items())]
        return tuple(process.pid for its, process in running if role in (None, its))

    def isolation(self) -> Isolation:
        """What all graders are cut off from; nothing is promised before each has started once."""
        kept = [slot for slot in self._slots if not slot.on_demand]
        return reduce(Isolation.weakest, [slot.isolation for slot in kept])

    def counts(self) -> Mapping[str, int]:
        """Totals since the pool was made: `jobs`, `starts` of processes, and faults by kind."""
        return sum((slot.counts.copy() for slot in self._slots), Counter())

    def caches(self) -> Mapping[int, CacheCounts]:
        """What each running process last said about its cache, by process id."""
        return {
            process.pid: slot.caches[role]
            for slot in self._slots
            for role, process in list(slot.processes.items())
        }

    def close(self, grace: float = 5.0) -> None:
        """Cancel what waits, let jobs at work have `grace` seconds, then end every process."""
        self._closed.set()
        self._cancel_waiting()
        for slot in self._slots:
            slot.tasks.put(None)
        deadline = time.monotonic() + grace
        for slot in self._slots:
            slot.thread.join(max(0.0, deadline - time.monotonic()))
        for slot in self._slots:
            slot.stop()
        self._cancel_waiting()

    def _put(self, tasks: Tasks, job: Job, begun: Callable[[], None] = lambda: None) -> Future[Any]:
        if self._closed.is_set():
            raise Unavailable("Podium is shutting down.")
        task = Task(job, Future(), begun)
        tasks.put(task)
        if self._closed.is_set():  # closed just now; perhaps nobody is left to take it
            self._cancel_waiting()
        return task.future

    def _cancel_waiting(self) -> None:
        for tasks in (self._grading, self._validating):
            with contextlib.suppress(queue.Empty):
                while True:
                    task = tasks.get_nowait()
                    if task is not None:
                        task.cancel()
