"""Fair turns between runs: each run does one job at a time, and runs that wait take turns."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from app.errors import Unavailable

T = TypeVar("T")
Start = Callable[[], Future[T]]


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[T]):
    start: Start[T]
    result: Future[T] = field(default_factory=Future)


class Turns(Generic[T]):
    """Starts jobs of runs: at most `most` at a time, and at most one of each run.

    The next job is that of the run that has waited longest since its last job ended. So one run
    cannot delay the others, however many jobs it has.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._busy: set[str] = set()
        self._waiting: OrderedDict[str, deque[_Waiting[T]]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, run_id: str, start: Start[T]) -> Future[T]:
        """Call `start` when it is the run's turn. Returns the future of its result.

        If the future is cancelled before that, `start` is not called.
        """
        one = _Waiting(start)
        with self._lock:
            self._waiting.setdefault(run_id, deque()).append(one)
        self._start_jobs()
        return one.result

    def _start_jobs(self) -> None:
        while (found := self._next()) is not None:
            run_id, one = found
            if one.result.cancelled():
                self._ended(run_id)
                continue
            try:
                job = one.start()
            except BaseException as error:
                self._ended(run_id)
                _copy(one.result, error=error)
                continue
            if job.done():  # here: as callbacks, many such jobs would call each other
                self._settle(run_id, one, job)
            else:
                job.add_done_callback(partial(self._done, run_id, one))

    def _next(self) -> tuple[str, _Waiting[T]] | None:
        """The job whose turn it is; None if `most` jobs run, or no run may start one."""
        with self._lock:
            if not self._free:
                return None
            run_id = next((run_id for run_id in self._waiting if run_id not in self._busy), None)
            if run_id is None:
                return None
            jobs = self._waiting[run_id]
            one = jobs.popleft()
            if not jobs:
                del self._waiting[run_id]
            self._busy.add(run_id)
            self._free -= 1
            return run_id, one

    def _done(self, run_id: str, one: _Waiting[T], job: Future[T]) -> None:
        self._settle(run_id, one, job)
        self._start_jobs()

    def _settle(self, run_id: str, one: _Waiting[T], job: Future[T]) -> None:
        self._ended(run_id)
        if job.cancelled():
            one.result.cancel()
            one.result.set_running_or_notify_cancel()
        else:
            _copy(one.result, job, job.exception())

    def _ended(self, run_id: str) -> None:
        with self._lock:
            self._busy.remove(run_id)
            self._free += 1
            if run_id in self._waiting:
                self._waiting.move_to_end(run_id)


class SharedJobs(Generic[T]):
    """Jobs by name, one at a time. A request for a job that waits or runs gets its future.

    Callers take turns. The future is shared, so nobody who waits for it may cancel it.
    """

    def __init__(self, most: int) -> None:
        """At most `most` jobs wait or run, and at most half as many that one caller asked for."""
        self._most = most
        self._asked: Counter[str] = Counter()
        self._turns: Turns[T] = Turns(1)
        self._jobs: dict[str, Future[T]] = {}
        self._lock = threading.Lock()

    def get(self, name: str, start: Start[T], by: str) -> Future[T]:
        """The future of the job of this name. `start` begins a new job when it is its turn.

        `by` is the id of the key that asks.

        Raises:
            Unavailable: too many jobs are waiting.
        """
        with self._lock:
            found = self._jobs.get(name)
            if found is not None:
                return found
            if len(self._jobs) >= self._most:
                raise Unavailable(f"{self._most} jobs of this kind are waiting; try again.")
            if self._asked[by] >= self._most // 2:
                raise Unavailable(
                    f"{self._asked[by]} jobs of this kind that this key asked for are waiting; try "
                    "again."
                )
            # Known before it starts: a job may end while it is being started.
            result: Future[T] = Future()
            self._jobs[name] = result
            self._asked[by] += 1

        def done(job: Future[T]) -> None:
            with self._lock:
                del self._jobs[name]
                self._asked[by] -= 1
                if not self._asked[by]:
                    del self._asked[by]
            if job.cancelled():
                _copy(result, error=Unavailable("Podium is shutting down."))
            else:
                _copy(result, job, job.exception())

        self._turns.add(by, start).add_done_callback(done)
        return result


def _copy(
    result: Future[T], job: Future[T] | None = None, error: BaseException | None = None
) -> None:
    try:
        if error is not None:
            result.set_exception(error)
        elif job is not None:
            result.set_result(job.result())
    except InvalidStateError:  # nobody waits any more
        return
