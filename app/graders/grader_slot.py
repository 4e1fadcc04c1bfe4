"""A grader slot: one thread that keeps grader processes alive and gives them one job at a time."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import Any

from app.graders.messages.protocol import ProtocolError
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import CacheCounts, GraderFault, GraderFaultKind
from app.graders.process import GraderDied, GraderProcess, Job, Role, SendFailed
from app.graders.template import GraderTemplate, StartFailed
from app.graders.walls.isolation import Isolation
from app.grading.custom_metric import METRIC_FILE

log = logging.getLogger("podium.graders")

STARTS = 3  # attempts to start a grader before the waiting job fails
PAUSE_SECONDS = (
    1.0  # between them; also between the checks of an idle slot that its grader is alive
)
# A process for competitions with a metric.py ends after this time without a job.
CUSTOM_IDLE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class GraderLimits:
    """The limits of a job and of a process, and whether a metric.py requires all walls.

    With `shows_texts`, faults of a metric.py have the exception's text, which may contain answers.
    """

    seconds: float
    memory_mb: int
    cache_mb: int
    requires_isolation: bool = False
    shows_texts: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A job, and the future that waits for it.

    The future stays pending while the job runs, so that it can be cancelled until the end.
    """

    job: Job
    future: Future[Any]
    begun: Callable[[], None]

    def finish(self, answer: Answer) -> None:
        """Set the result, unless the future was cancelled."""
        with contextlib.suppress(InvalidStateError):
            self.future.set_result(answer)

    def fail(self, error: Exception) -> None:
        """Set an error of Podium's own code."""
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)

    def cancel(self) -> None:
        """Cancel the future."""
        if not self.future.done() and self.future.cancel():
            self.future.set_running_or_notify_cancel()


Tasks = queue.SimpleQueue[Task | None]


class GraderSlot:
    """Serves `tasks` with grader processes until `closed` is set.

    There is one process for each role: the slot's own, and a process of role `custom`, started
    for the first competition with a metric.py, so that its code never runs in a process that grades
    others. Only one of the two runs a job at a time.

    `start_error` is the reason of the last failed start, and `isolation` has the walls around the
    last process. A slot `on_demand` has processes only while there are jobs. With `niceness`,
    others get the processors first.
    """

    def __init__(
        self,
        role: Role,
        tasks: Tasks,
        closed: threading.Event,
        limits: GraderLimits,
        template: GraderTemplate,
        *,
        on_demand: bool = False,
        niceness: int = 0,
    ) -> None:
        self.role = role
        self.tasks = tasks
        self.on_demand = on_demand
        self.processes: dict[Role, GraderProcess] = {}
        self.caches: dict[Role, CacheCounts] = {}
        self.start_error = ""
        self.isolation = Isolation(notes=("a grader is starting",))
        self.counts: Counter[str] = Counter()
        self._niceness = niceness
        self._closed = closed
        self._limits = limits
        self._template = template
        self._task: Task | None = None
        self._last_custom_job = 0.0
        # A daemon thread, so that a server that did not close the pool can still end.
        self.thread = threading.Thread(target=self._run, name=f"grader-{role}", daemon=True)

    def is_ready(self) -> bool:
        """Whether a warm process is alive, or none is needed now."""
        return self.on_demand or self._is_warm(self.role)

    def stop(self) -> None:
        """Kill the processes, so that the thread ends, and wait for it."""
        task = self._task
        if task is not None:
            task.cancel()
        while self.thread.is_alive():
            for process in list(self.processes.values()):
                process.kill()
            self.thread.join(0.05)

    def _is_warm(self, role: Role) -> bool:
        process = self.processes.get(role)
        return process is not None and process.is_alive()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._serve_one()
            except Exception as error:  # after an error in this module no caller may wait for ever
                log.exception("a grader's thread stumbled")
                if self._task is not None:
                    self._task.fail(error)
                self._discard_all()
            self._task = None
        self._discard_all()

    def _serve_one(self) -> None:
        if not self.on_demand and self.role not in self.processes:
            self._keep_alive(self.role)
        try:
            self._task = self.tasks.get(timeout=PAUSE_SECONDS)
        except queue.Empty:
            if self.on_demand:
                self._discard_all()
            else:
                self._keep_alive(self.role)
                idle = time.monotonic() - self._last_custom_job
                if not self._is_warm("custom") or idle > CUSTOM_IDLE_SECONDS:
                    self._discard("custom")
            return
        if self._task is not None and not self._task.future.cancelled():
            self._task.begun()
            self._task.finish(self._do(self._task.job))

    def _do(self, job: Job) -> Answer:
        self.counts["jobs"] += 1
        role = self.role
        # Uncertainty is estimated by Podium's own code alone: it never runs a metric.py.
        runs_metric = job.task != "uncertainty"
        if role == "grade" and runs_metric and (job.version.path / METRIC_FILE).is_file():
            role, self._last_custom_job = "custom", time.monotonic()
        for _ in range(STARTS):
            process = self._keep_alive(role)
            if process is None:
                self._closed.wait(PAUSE_SECONDS)
                continue
            missing = process.isolation.missing()
            if role == "custom" and self._limits.requires_isolation and missing:
                return self._fault("isolation", "without " + ", ".join(missing))
            try:
                reply = process.ask(job, self._limits.seconds)
            except SendFailed as error:
                log.warning("a grader was replaced before a job", extra={"reason": str(error)})
                self._discard(role)
                continue
            except TimeoutError:
                self._discard(role)
                return self._fault("timeout", f"after {self._limits.seconds:g} seconds")
            except GraderDied:
                return self._fault("crashed", self._discard(role))
            except ProtocolError as error:
                self._discard(role)
                return self._fault("crashed", str(error))
            self.caches[role] = CacheCounts(**dict(reply.cache))
            answer = reply.answer.result()
            if isinstance(answer, GraderFault):
                self.counts[answer.kind] += 1
            if reply.retire:
                self._discard(role)
            return answer
        return self._fault("not_started", "")

    def _fault(self, kind: GraderFaultKind, place: str) -> GraderFault:
        self.counts[kind] += 1
        return GraderFault(kind, place)

    def _keep_alive(self, role: Role) -> GraderProcess | None:
        """Return a living process of this role; None if none can be started now."""
        if self._is_warm(role):
            return self.processes[role]
        if role in self.processes:
            log.warning("an idle grader died", extra={"ending": self._discard(role)})
        limits = self._limits
        try:
            process = GraderProcess(
                role,
                memory_mb=limits.memory_mb,
                cache_mb=limits.cache_mb,
                requires_isolation=limits.requires_isolation,
                shows_texts=limits.shows_texts,
                template=self._template,
            )
        except (StartFailed, OSError) as error:
            self.start_error = str(error)
            log.error("a grader does not start", extra={"reason": str(error)})  # noqa: TRY400
            return None
        if self._niceness:
            with contextlib.suppress(OSError):  # it died: the job will say so
                os.setpriority(os.PRIO_PROCESS, process.pid, self._niceness)
        self.processes[role] = process
        self.start_error = ""
        self.isolation = process.isolation
        self.caches[role] = CacheCounts()
        self.counts["starts"] += 1
        return process

    def _discard_all(self) -> None:
        for role in list(self.processes):
            self._discard(role)

    def _discard(self, role: Role) -> str:
        """Kill the process of a role, if there is one. Returns how it ended."""
        process = self.processes.pop(role, None)
        if process is None:
            return ""
        status = process.kill()
        return f"signal {-status}" if status < 0 else f"exit status {status}"
