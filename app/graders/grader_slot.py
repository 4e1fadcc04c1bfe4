"""A grader slot: one thread that keeps grader processes alive and gives them one job at a time."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import Any

from app.errors import Unavailable
from app.graders.messages.protocol import ProtocolError
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import GraderFault, GraderFaultKind
from app.graders.process import GraderDied, GraderProcess, Job, Role, SendFailed
from app.graders.template import GraderTemplate, StartFailed
from app.graders.walls.isolation import Isolation
from app.system_limits import is_used_up

log = logging.getLogger("podium.graders")

STARTS = 3  # attempts to start a grader before the waiting job fails
PAUSE_SECONDS = 1.0  # between them; also between the checks of an idle slot
LEAST_PRIORITY = 19  # the largest niceness there is


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

    The future stays pending while the job runs, so that it can be cancelled at any time.
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
    """Serves `tasks` with one grader process at a time until `closed` is set.

    `start_error` is the reason of the last failed start, and `isolation` has the walls around the
    last process. With `idle_seconds` the slot is on demand: its process starts for a job, and ends
    after this time without one. With `niceness`, which is in addition to this process's own, other
    processes get processor time first.
    """

    def __init__(
        self,
        role: Role,
        tasks: Tasks,
        closed: threading.Event,
        limits: GraderLimits,
        template: GraderTemplate,
        *,
        idle_seconds: float | None = None,
        niceness: int = 0,
    ) -> None:
        self.role = role
        self.tasks = tasks
        self.on_demand = idle_seconds is not None
        self.process: GraderProcess | None = None
        self.start_error = ""
        self.isolation = Isolation(notes=("a grader is starting",))
        self.counts: Counter[str] = Counter()
        self._niceness = niceness
        self._closed = closed
        self._limits = limits
        self._template = template
        self._task: Task | None = None
        self._is_limited = False  # whether the last start failed at a limit of the system
        self._idle_seconds = idle_seconds or 0.0
        self._last_job, self._lost_at = 0.0, -math.inf
        # A daemon thread, so that a server that did not close the pool can still end.
        self.thread = threading.Thread(target=self._run, name=f"grader-{role}", daemon=True)

    def is_ready(self, grace: float = 0.0) -> bool:
        """Whether a warm process is alive, or none is needed now.

        A process that ended less than `grace` seconds ago counts, unless the next one could not be
        started.
        """
        if self.on_demand or self._is_warm():
            return True
        was_here = self.process is not None or time.monotonic() - self._lost_at < grace
        return grace > 0 and was_here and not self.start_error

    def cancel(self) -> None:
        """Cancel the running job, if there is one. Its future gets no result."""
        if (task := self._task) is not None:
            task.cancel()

    def stop(self) -> None:
        """Kill the process, so that the thread ends, and wait for it."""
        self.cancel()
        while self.thread.is_alive():
            if (process := self.process) is not None:
                process.kill()
            self.thread.join(0.05)

    def _is_warm(self) -> bool:
        process = self.process
        return process is not None and process.is_alive()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._serve_one()
            except Exception as error:  # no caller may wait for ever after an error in this module
                log.exception("an error in the thread of a grader")
                if self._task is not None:
                    self._task.fail(error)
                self._discard()
            self._task = None
        self._discard()

    def _serve_one(self) -> None:
        if not self.on_demand and self.process is None:
            self._keep_alive()
        try:
            self._task = self.tasks.get(timeout=PAUSE_SECONDS)
        except queue.Empty:
            if not self.on_demand:
                self._keep_alive()
            elif not self._is_warm() or time.monotonic() - self._last_job > self._idle_seconds:
                self._discard()
            return
        if self._task is not None and not self._task.future.cancelled():
            self._task.begun()
            try:
                self._task.finish(self._do(self._task.job))
            except Unavailable as error:
                self._task.fail(error)
            self._last_job = time.monotonic()

    def _do(self, job: Job) -> Answer:
        self.counts["jobs"] += 1
        for _ in range(STARTS):
            process = self._keep_alive()
            if process is None:
                self._closed.wait(PAUSE_SECONDS)
                continue
            needs_walls = self.role == "custom" and self._limits.requires_isolation
            if needs_walls and (missing := process.isolation.missing()):
                return self._fault("isolation", "without " + ", ".join(missing))
            try:
                reply = process.ask(job, self._limits.seconds)
            except SendFailed as error:
                log.warning("a grader was replaced before a job", extra={"reason": str(error)})
                self._discard()
                continue
            except TimeoutError:
                self._discard()
                return self._fault("timeout", f"after {self._limits.seconds:g} seconds")
            except GraderDied:
                return self._fault("crashed", self._discard())
            except ProtocolError as error:
                self._discard()
                return self._fault("crashed", str(error))
            answer = reply.answer.result()
            if isinstance(answer, GraderFault):
                self.counts[answer.kind] += 1
            if reply.retire:
                self._discard()
            if isinstance(answer, GraderFault) and answer.kind == "not_started":
                raise Unavailable(f"No process can be started for a metric.py: {answer.place}.")
            return answer
        if self._is_limited:
            raise Unavailable(f"No grader can be started: {self.start_error}.")
        return self._fault("not_started", "")

    def _fault(self, kind: GraderFaultKind, place: str) -> GraderFault:
        self.counts[kind] += 1
        return GraderFault(kind, place)

    def _keep_alive(self) -> GraderProcess | None:
        """Return a living process; None if none can be started now."""
        if self._is_warm():
            return self.process
        if self.process is not None:
            log.warning("an idle grader died", extra={"ending": self._discard()})
        limits = self._limits
        try:
            process = GraderProcess(
                self.role, memory_mb=limits.memory_mb, cache_mb=limits.cache_mb,
                requires_isolation=limits.requires_isolation, shows_texts=limits.shows_texts,
                template=self._template,
            )  # fmt: skip
        except (StartFailed, OSError) as error:
            self.start_error, self._is_limited = str(error), is_used_up(error)
            log.error("a grader does not start", extra={"reason": str(error)})  # noqa: TRY400
            return None
        if self._niceness:
            # Graders have at least the server's own niceness, and this process has a larger one.
            wanted = os.getpriority(os.PRIO_PROCESS, 0) + self._niceness
            with contextlib.suppress(OSError):  # it died: the job will say so
                os.setpriority(os.PRIO_PROCESS, process.pid, min(wanted, LEAST_PRIORITY))
        self.process, self.start_error = process, ""
        self.isolation = process.isolation
        self.counts["starts"] += 1
        return process

    def _discard(self) -> str:
        """Kill the process, if there is one. Returns how it ended."""
        process, self.process = self.process, None
        if process is None:
            return ""
        self._lost_at = time.monotonic()
        status = process.kill()
        return f"signal {-status}" if status < 0 else f"exit status {status}"
