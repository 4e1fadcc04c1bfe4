"""Fair turns between runs: each run does one job at a time, and runs that wait take turns."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

T = TypeVar("T")
Start = Callable[[], Future[T]]


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[T]):
    start: Start[T]
    result: Future[T] = field(default_factory=Future)


class Turns(Generic[T]):
    """Starts jobs of runs: at most `most` at a time, and at most one of each run.

    A free place goes to the run that has waited longest since its last job ended. So one run
    cannot keep the others waiting, however many jobs it sends.
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
            job.add_done_callback(partial(self._done, run_id, one))

    def _next(self) -> tuple[str, _Waiting[T]] | None:
        """The job whose turn it is; None if no place is free, or no run may start one."""
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
        self._ended(run_id)
        if job.cancelled():
            one.result.cancel()
            one.result.set_running_or_notify_cancel()
        else:
            _copy(one.result, job, job.exception())
        self._start_jobs()

    def _ended(self, run_id: str) -> None:
        with self._lock:
            self._busy.remove(run_id)
            self._free += 1
            if run_id in self._waiting:
                self._waiting.move_to_end(run_id)


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
