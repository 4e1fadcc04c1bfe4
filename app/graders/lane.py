"""A lane: one thread that keeps one grader process alive and gives it one job at a time."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections import Counter
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import Any

from app.graders.cache import CacheCounts
from app.graders.messages import Answer
from app.graders.outcomes import Fault, FaultKind
from app.graders.process import (
    DiedError,
    GraderProcess,
    NonsenseError,
    NotDeliveredError,
    NotStartedError,
    Role,
)
from app.graders.sandbox import Isolation

log = logging.getLogger("podium.graders")

STARTS = 3  # attempts to start a grader before the job that waits for it is given back
PAUSE_SECONDS = 1.0  # between them; also how often an idle lane looks whether its grader lives


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may take, and what one process may keep."""

    seconds: float
    memory_mb: int
    cache_mb: int


@dataclass(frozen=True, slots=True)
class Task:
    """A job to do, and who waits for it.

    The future stays pending while the job is at work, so that it can be cancelled until the end.
    """

    request: tuple[str, ...]
    future: Future[Any]

    def settle(self, answer: Answer) -> None:
        """Hand over the answer, unless nobody waits any more."""
        with contextlib.suppress(InvalidStateError):
            self.future.set_result(answer)

    def fail(self, error: Exception) -> None:
        """Hand over an error of our own."""
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)

    def cancel(self) -> None:
        """Tell whoever waits that nothing will come."""
        if not self.future.done() and self.future.cancel():
            self.future.set_running_or_notify_cancel()


Tasks = queue.SimpleQueue[Task | None]


class Lane:
    """Serves `tasks` with one grader process until `closed` is set.

    `process` is None while there is none; `trouble` says why the last start failed, and
    `isolation` what the last process was cut off from. A lane `on_demand` has a process only while
    there is something to do.
    """

    def __init__(
        self,
        role: Role,
        tasks: Tasks,
        closed: threading.Event,
        limits: Limits,
        *,
        on_demand: bool = False,
    ) -> None:
        self.role = role
        self.tasks = tasks
        self.on_demand = on_demand
        self.process: GraderProcess | None = None
        self.trouble = ""
        self.isolation = Isolation(notes=("a grader is starting",))
        self.counts: Counter[str] = Counter()
        self.cache = CacheCounts()
        self._closed = closed
        self._limits = limits
        self._task: Task | None = None
        # A daemon, so that a server that forgot to close the pool can still end.
        self.thread = threading.Thread(target=self._run, name=f"grader-{role}", daemon=True)

    def is_ready(self) -> bool:
        """Whether a warm process is there and alive, or none is wanted just now."""
        return self.on_demand or self._is_warm()

    def stop(self) -> None:
        """End the process under the thread, which then finds it gone, and wait for the thread."""
        task = self._task
        if task is not None:
            task.cancel()
        while self.thread.is_alive():
            process = self.process
            if process is not None:
                process.kill()
            self.thread.join(0.05)

    def _is_warm(self) -> bool:
        process = self.process
        return process is not None and process.is_alive()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._serve_one()
            except Exception as error:  # an error in this file must not leave a caller waiting
                log.exception("a grader's thread stumbled")
                if self._task is not None:
                    self._task.fail(error)
                self._discard()
            self._task = None
        self._discard()

    def _serve_one(self) -> None:
        if self.process is None and not self.on_demand:
            self._keep_alive()
        try:
            self._task = self.tasks.get(timeout=PAUSE_SECONDS)
        except queue.Empty:
            if self.on_demand:
                self._discard()
            else:
                self._keep_alive()
            return
        if self._task is not None and not self._task.future.cancelled():
            self._task.settle(self._do(self._task.request))

    def _do(self, request: tuple[str, ...]) -> Answer:
        self.counts["jobs"] += 1
        for _ in range(STARTS):
            if not self._keep_alive() or self.process is None:
                self._closed.wait(PAUSE_SECONDS)
                continue
            try:
                reply = self.process.ask(request, self._limits.seconds)
            except NotDeliveredError:
                self._discard()
                continue
            except TimeoutError:
                self._discard()
                return self._fault("timeout", f"after {self._limits.seconds:g} seconds")
            except DiedError:
                return self._fault("crashed", self._discard())
            except NonsenseError as error:
                self._discard()
                return self._fault("crashed", str(error))
            self.cache = reply.cache
            if isinstance(reply.answer, Fault):
                self.counts[reply.answer.kind] += 1
            if reply.retire:
                self._discard()
            return reply.answer
        return self._fault("not_started", "")

    def _fault(self, kind: FaultKind, place: str) -> Fault:
        self.counts[kind] += 1
        return Fault(kind, place)

    def _keep_alive(self) -> bool:
        """Have a living process; False if none can be started just now."""
        if self._is_warm():
            return True
        if self.process is not None:
            log.warning("an idle grader died", extra={"ending": self._discard()})
        try:
            self.process = GraderProcess(
                self.role, memory_mb=self._limits.memory_mb, cache_mb=self._limits.cache_mb
            )
        except (NotStartedError, OSError) as error:
            self.trouble = str(error)
            log.error("a grader does not start", extra={"reason": str(error)})  # noqa: TRY400
            return False
        self.trouble = ""
        self.isolation = self.process.isolation
        self.cache = CacheCounts()
        self.counts["starts"] += 1
        return True

    def _discard(self) -> str:
        """End the process, if there is one; says how it ended."""
        process, self.process = self.process, None
        if process is None:
            return ""
        status = process.kill()
        return f"signal {-status}" if status < 0 else f"exit status {status}"
