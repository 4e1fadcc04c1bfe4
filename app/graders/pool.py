"""The pool of graders: warm processes that do jobs in parallel, each replaced when it is killed."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, Self

from app.domain.competition import METRIC_FILE
from app.domain.verdict import Verdict
from app.errors import GradingFault, Unavailable
from app.graders.grader_slot import GraderLimits, GraderSlot, Task, Tasks
from app.graders.messages.results import (
    CompetitionCheck,
    GraderFault,
    GradingResult,
    Rejected,
)
from app.graders.process import Job, Role
from app.graders.template import GraderTemplate
from app.graders.version_folder import VersionFolder
from app.graders.walls.isolation import Isolation
from app.resampling.uncertainty import Uncertainty

# A process for competitions with a metric.py ends after this time without a job.
CUSTOM_IDLE_SECONDS = 300.0
# How long a closing pool waits for its template to end the graders.
ENDING_SECONDS = 5.0
NICENESS = 15  # added for the process that estimates uncertainty; 5 is added for graders


class GraderPool:
    """`processes` graders, and `validators` processes that never open an answers file.

    With 0 `processes`, one grader is started when there is a job, for example for an import, and
    ended when there is none.

    A job may take `seconds` of wall-clock time (a validation `validation_seconds`), and `memory_mb`
    more than a warm grader needs. A job that takes more, or that kills its grader, ends as a
    `GraderFault` and affects no other. Every future gets a result, or is cancelled when the pool is
    closed. Callbacks of futures run in the thread that serves a grader, so they should be short.

    Competitions with a metric.py are graded in as many separate processes, which start on demand.
    So their code never runs in a process that grades others, and however long a metric.py takes,
    competitions without one do not wait for it. With `requires_isolation` they are refused if this
    machine lacks a wall of `Isolation`, by a fault that names the wall. `shows_texts` is for
    commands of an admin who has the answers: faults of a metric.py then have the exception's text.
    A command may give a `template` that it has launched.
    """

    def __init__(
        self,
        *,
        processes: int,
        seconds: float,
        memory_mb: int,
        cache_mb: int,
        validators: int = 1,
        validation_seconds: float | None = None,
        requires_isolation: bool = False,
        shows_texts: bool = False,
        template: GraderTemplate | None = None,
    ) -> None:
        self._closed = threading.Event()
        self._grading: Tasks = queue.SimpleQueue()
        self._with_own_metric: Tasks = queue.SimpleQueue()
        self._validating: Tasks = queue.SimpleQueue()
        self._resampling: Tasks = queue.SimpleQueue()
        limits = GraderLimits(seconds, memory_mb, cache_mb, requires_isolation, shows_texts)
        self._template = template = template or GraderTemplate()
        is_kept, count = processes > 0, max(1, processes)

        def new_slot(role: Role, tasks: Tasks, idle: float | None, niceness: int = 0) -> GraderSlot:
            return GraderSlot(
                role, tasks, self._closed, limits, template, idle_seconds=idle, niceness=niceness
            )

        self._slots = [
            new_slot("grade", self._grading, None if is_kept else 0.0) for _ in range(count)
        ]
        self._slots += [
            new_slot("custom", self._with_own_metric, CUSTOM_IDLE_SECONDS if is_kept else 0.0)
            for _ in range(count)
        ]
        # A separate process, only while somebody asks, so that no submission ever waits for it.
        self._slots.append(new_slot("grade", self._resampling, 0.0, NICENESS))
        checks = replace(limits, seconds=validation_seconds or seconds)
        self._slots += [
            GraderSlot("validate", self._validating, self._closed, checks, template)
            for _ in range(validators)
        ]
        for slot in self._slots:
            slot.thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def grade(
        self,
        version: VersionFolder,
        file: Path,
        sha256: str = "",
        begun: Callable[[], None] = lambda: None,
    ) -> Future[GradingResult]:
        """Grade a submission file against a competition version's private answers.

        If its SHA-256 is not `sha256`, that is a fault of kind `storage`. `begun` is called just
        before a grader gets the file, in the thread that serves the grader.
        """
        return self._put(self._tasks(version), Job("grade", version, file, sha256), begun)

    def uncertainty(
        self, version: VersionFolder, file: Path, sha256: str = ""
    ) -> Future[Uncertainty | Rejected | GraderFault]:
        """Estimate the noise of a submission's score; one at a time, and never before a grading.

        Only Podium's own code runs, no metric.py.
        """
        return self._put(self._resampling, Job("uncertainty", version, file, sha256))

    def check_competition(self, version: VersionFolder) -> Future[CompetitionCheck | GraderFault]:
        """Check a competition before its import; nothing of it is cached."""
        return self._put(self._tasks(version), Job("check", version))

    def validate(self, version: VersionFolder, file: Path) -> Future[Verdict | GraderFault]:
        """Check a file's form against the declared columns and the public ids."""
        return self._put(self._validating, Job("validate", version, file))

    def warm_up(self, seconds: float = 120.0) -> None:
        """Wait until every process is ready.

        Raises:
            GradingFault: one could not be started, or was not ready in time.
        """
        deadline = time.monotonic() + seconds
        while not self.is_ready():
            start_error = next((slot.start_error for slot in self._slots if slot.start_error), "")
            if start_error or time.monotonic() > deadline:
                raise GradingFault(f"graders do not start: {start_error or 'too slow'}")
            time.sleep(0.01)

    def is_ready(self, grace: float = 0.0) -> bool:
        """Whether every process is warm and alive, or ended less than `grace` seconds ago.

        Before its first process a slot is not ready.
        """
        return not self._closed.is_set() and all(slot.is_ready(grace) for slot in self._slots)

    def pids(self, role: Role | None = None) -> tuple[int, ...]:
        """The process ids of the running graders, of one role or of all."""
        running = [(slot.role, slot.process) for slot in self._slots]
        return tuple(process.pid for its, process in running if process and role in (None, its))

    def isolation(self) -> Isolation:
        """The walls around all graders; none before each grader has started once."""
        kept = [slot for slot in self._slots if not slot.on_demand]
        return reduce(Isolation.weakest, [slot.isolation for slot in kept])

    def counts(self) -> Mapping[str, int]:
        """Totals since the pool was made: `jobs`, `starts` of processes, and faults by kind."""
        return sum((slot.counts.copy() for slot in self._slots), Counter())

    def close(self, grace: float = 5.0) -> None:
        """Cancel waiting jobs, give running jobs `grace` seconds, then kill every process."""
        self._closed.set()
        self._cancel_waiting()
        for slot in self._slots:
            slot.tasks.put(None)
        deadline = time.monotonic() + grace
        for slot in self._slots:
            slot.thread.join(max(0.0, deadline - time.monotonic()))
        for slot in self._slots:  # all slots first, because a template ends all its graders
            slot.cancel()
        # To end a grader may take two minutes if the template is stopped (SIGSTOP).
        impatience = threading.Timer(ENDING_SECONDS, self._template.give_up)
        impatience.daemon = True
        with contextlib.suppress(RuntimeError):  # the system has no more threads
            impatience.start()
        for slot in self._slots:
            slot.stop()
        impatience.cancel()
        self._cancel_waiting()

    def _tasks(self, version: VersionFolder) -> Tasks:
        has_own_metric = (version.path / METRIC_FILE).is_file()
        return self._with_own_metric if has_own_metric else self._grading

    def _put(self, tasks: Tasks, job: Job, begun: Callable[[], None] = lambda: None) -> Future[Any]:
        if self._closed.is_set():
            raise Unavailable("Podium is shutting down.")
        task = Task(job, Future(), begun)
        tasks.put(task)
        if self._closed.is_set():  # closed meanwhile; perhaps no thread is left to do it
            self._cancel_waiting()
        return task.future

    def _cancel_waiting(self) -> None:
        for tasks in (
            self._grading, self._with_own_metric, self._validating, self._resampling,
        ):  # fmt: skip
            with contextlib.suppress(queue.Empty):
                while True:
                    task = tasks.get_nowait()
                    if task is not None:
                        task.cancel()
