"""Run blocking functions in threads, at low cost, since every submission needs one.

Which pool is for what: docs/decisions/0049-a-pool-for-each-kind-of-waiting.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ParamSpec, TypeVar

from app.errors import PodiumError
from app.thread_pool import ThreadPool

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass
class _Turn:
    """The requests for one file at the same time: their lock, their number and a failure."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0
    failure: PodiumError | None = None


# A few threads: because of CPython's lock, more would only slow each other down. They wait for a
# disk or a database, but not for long.
_threads = ThreadPool(16, thread_name_prefix="http")
# Unpacking a large body takes seconds of processor time, and no other request may wait for it.
_unpacking = ThreadPool(2, thread_name_prefix="unpacking")
# Event streams read in separate threads, so that they delay no submission. A stream that reads a
# long run from its start reads its pages after the first in one thread, which all such streams
# share. So it delays no stream that begins, and none that waits for new events. After each page
# this thread pauses HISTORY_RESTS times as long as the page took of processor time. So all streams
# that read long histories together take a tenth of a processor, and other requests are answered as
# fast as without them.
_reading_events = ThreadPool(2, thread_name_prefix="events")
_reading_history = ThreadPool(1, thread_name_prefix="history")
HISTORY_RESTS = 9.0
# To find a file may take minutes: all of it is read and compared with its digest, or an archive of
# all files is made. Further requests for the same file wait for their turn without a thread, and
# requests for anything else use other threads.
_finding_files = ThreadPool(8, thread_name_prefix="files")
_turns: dict[str, _Turn] = {}


def run_in_thread(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Awaitable[Result]:
    """Run `function` in a thread and await its result; the request's id is copied to the thread.

    Starlette's `run_in_threadpool` does the same with more layers, which take 15 % of the time of
    a small submission.
    """
    context = contextvars.copy_context()
    run = lambda: context.run(function, *args, **kwargs)  # noqa: E731 (as short as can be)
    return asyncio.get_running_loop().run_in_executor(_threads, run)


def unpack_in_thread(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Awaitable[Result]:
    """Do as `run_in_thread`, in a thread for bodies that are unpacked or copied."""
    run = partial(contextvars.copy_context().run, function, *args, **kwargs)
    return asyncio.get_running_loop().run_in_executor(_unpacking, run)


async def find_file(
    identity: str,
    function: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Do as `run_in_thread`, in a thread for files, and for one request for a file at a time.

    If it cannot be found, the requests that wait for it fail too, so that not each tries in vain.
    """
    turn = _turns.setdefault(identity, _Turn())
    turn.wanted += 1
    run = partial(contextvars.copy_context().run, function, *args, **kwargs)
    try:
        async with turn.lock:
            if turn.failure is not None:  # a copy, or its traceback would grow with each
                raise copy.copy(turn.failure).with_traceback(None)
            return await asyncio.get_running_loop().run_in_executor(_finding_files, run)
    except PodiumError as failure:
        turn.failure = failure
        raise
    finally:
        turn.wanted -= 1
        # A request that comes after the failure has not waited for this turn, so it tries again.
        if _turns.get(identity) is turn and (turn.failure or not turn.wanted):
            del _turns[identity]


def read_events(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Awaitable[Result]:
    """Do as `run_in_thread`, in a thread for streams that begin or have sent all past events."""
    run = partial(contextvars.copy_context().run, function, *args, **kwargs)
    return asyncio.get_running_loop().run_in_executor(_reading_events, run)


def read_history(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Awaitable[Result]:
    """Do as `run_in_thread`, in the thread for streams that have more past events to send."""
    context = contextvars.copy_context()

    def run() -> Result:
        begun = time.thread_time()
        try:
            return context.run(function, *args, **kwargs)
        finally:
            # Later pages wait for the thread's pause, this one does not.
            with contextlib.suppress(RuntimeError):  # the server ends
                _reading_history.submit(time.sleep, HISTORY_RESTS * (time.thread_time() - begun))

    return asyncio.get_running_loop().run_in_executor(_reading_history, run)
