"""Grade waiting submissions in this process if no server grades here, otherwise wait."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from app.cli.operation.hang_up import end_at_hang_up
from app.cli.output import err
from app.services.operations.gauges import count_consumers
from app.services.runtime.context import Context, DataDirectoryInUse, lock_data_directory

WAIT_SECONDS = 0.3  # between queries of the progress
LOOK_SHARE = 0.1  # of the time, at most, for these: with many files one takes a second
NOBODY = (
    "The queue has no worker, so nothing is graded: start one with `podium worker`. This command "
    "waits for it."
)


def grade_or_wait(
    context: Context, is_done: Callable[[], bool], grade: Callable[[Callable[[bool], bool]], None]
) -> None:
    """Wait until `is_done()` is true. If no server grades here, grade in this process.

    `grade(stop)` runs the loop; `stop(idle)` ends it. SIGTERM and a terminal that closes
    end the command as Ctrl-C does: it ends its graders first, so that their files do not count as
    the cause of a death.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_at_hang_up()
    if context.settings.queues:
        if not count_consumers(context):
            err.print(NOBODY)
        _wait(is_done)
        return
    try:
        lock = lock_data_directory(context.settings.data_dir)
    except DataDirectoryInUse:
        _wait(is_done)  # the server grades
        return
    due = time.monotonic() + WAIT_SECONDS

    def stop(idle: bool) -> bool:
        nonlocal due
        if not idle and time.monotonic() < due:
            return False
        has_ended, pause = _look(is_done)
        due = time.monotonic() + pause
        return has_ended

    try:
        context.listen()  # otherwise other servers of a PostgreSQL consider this process dead
        context.graders.warm_up()
        grade(stop)
    finally:
        os.close(lock)


def _wait(is_done: Callable[[], bool]) -> None:
    while True:
        has_ended, pause = _look(is_done)
        if has_ended:
            return
        time.sleep(pause)


def _look(is_done: Callable[[], bool]) -> tuple[bool, float]:
    """Whether it is done, and the seconds until the next query."""
    began = time.monotonic()
    has_ended = is_done()
    return has_ended, max(WAIT_SECONDS, (time.monotonic() - began) / LOOK_SHARE)
