"""The graders: warm processes that do jobs side by side, each replaced when it must be killed."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from functools import reduce
from pathlib import Path
from typing import Any, Self

from app.domain.verdict import Verdict
from app.errors import GradingFault, Unavailable
from app.graders.cache import CacheCounts
from app.graders.lane import Lane, Limits, Task, Tasks
from app.graders.outcomes import Fault, Inspection, Outcome
from app.graders.process import Role
from app.graders.sandbox import Isolation


class GraderPool:
    """`processes` graders, and one more process that validates and never opens an answers file.

    With no `processes`, one grader is started when there is something to do, as for an import, and
    ended when there is no more. `validates=False` leaves out the process that validates.

    A job may take `seconds` of wall-clock time and `memory_mb` beyond what a warm grader needs;
    one that takes more, or that kills its grader, ends as a `Fault` and disturbs no other. Every
    future comes to its end: with a result, or cancelled when the pool is closed. Callbacks of
    futures run in the thread that serves a grader, so they should be short.
    """

    def __init__(
        self,
        *,
        processes: int,
        seconds: float,
        memory_mb: int,
        cache_mb: int,
        validates: bool = True,
    ) -> None:
        self._closed = threading.Event()
        self._grading: Tasks = queue.SimpleQueue()
        self._validating: Tasks = queue.SimpleQueue()
        limits = Limits(seconds, memory_mb, cache_mb)
        self._lanes = [
            Lane("grade", self._grading, self._closed, limits, on_demand=processes == 0)
            for _ in range(max(1, processes))
        ]
        if validates:
            self._lanes.append(Lane("validate", self._validating, self._closed, limits))
        for lane in self._lanes:
            lane.thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def grade(self, version_dir: Path, file: Path, sha256: str = "") -> Future[Outcome]:
        """Grade a submission file against a competition version's private answers.

        If it has other bytes than `sha256` says, that is a fault of kind `storage`.
        """
        return self._put(self._grading, "grade", version_dir, file, sha256)

    def inspect(self, version_dir: Path) -> Future[Inspection | Fault]:
        """Try a competition before it is imported; nothing of it is kept."""
        return self._put(self._grading, "inspect", version_dir)

    def validate(self, version_dir: Path, file: Path) -> Future[Verdict | Fault]:
        """Check a file's form against the declared columns and the public ids."""
        return self._put(self._validating, "validate", version_dir, file)

    def warm_up(self, seconds: float = 120.0) -> None:
        """Wait until every process is ready.

        Raises:
            GradingFault: one could not be started, or was not ready in time.
        """
        deadline = time.monotonic() + seconds
        while not self.is_ready():
            trouble = next((lane.trouble for lane in self._lanes if lane.trouble), "")
            if trouble or time.monotonic() > deadline:
                raise GradingFault(f"graders do not start: {trouble or 'too slow'}")
            time.sleep(0.01)

    def is_ready(self) -> bool:
        """Whether every process is warm and alive."""
        return not self._closed.is_set() and all(lane.is_ready() for lane in self._lanes)

    def pids(self, role: Role | None = None) -> tuple[int, ...]:
        """The process ids of those that run now, of one role or of both."""
        running = [lane.process for lane in self._lanes if role in (None, lane.role)]
        return tuple(process.pid for process in running if process is not None)

    def isolation(self) -> Isolation:
        """What all graders are cut off from; nothing is promised before each has started once."""
        kept = [lane for lane in self._lanes if not lane.on_demand]
        return reduce(Isolation.weakest, [lane.isolation for lane in kept])

    def counts(self) -> Mapping[str, int]:
        """Totals since the pool was made: `jobs`, `starts` of processes, and faults by kind."""
        return sum((lane.counts.copy() for lane in self._lanes), Counter())

    def caches(self) -> Mapping[int, CacheCounts]:
        """What each running process last said about its cache, by process id."""
        running = [(lane.process, lane.cache) for lane in self._lanes]
        return {process.pid: cache for process, cache in running if process is not None}

    def close(self, grace: float = 5.0) -> None:
        """Cancel what waits, let jobs at work have `grace` seconds, then end every process."""
        self._closed.set()
        self._cancel_waiting()
        for lane in self._lanes:
            lane.tasks.put(None)
        deadline = time.monotonic() + grace
        for lane in self._lanes:
            lane.thread.join(max(0.0, deadline - time.monotonic()))
        for lane in self._lanes:
            lane.stop()
        self._cancel_waiting()

    def _put(self, tasks: Tasks, name: str, *arguments: Path | str) -> Future[Any]:
        if self._closed.is_set():
            raise Unavailable("Podium is shutting down.")
        task = Task((name, *(str(argument) for argument in arguments)), Future())
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
