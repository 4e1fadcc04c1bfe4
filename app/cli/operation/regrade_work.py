"""Wait until a regrade is graded: by this process if no server grades here, else by others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from app.cli.output import err, step_progress
from app.domain.states import RegradeState
from app.errors import Conflict
from app.services.operations.gauges import consumers
from app.services.regrades import show
from app.services.runtime.context import Context, DataDirectoryInUse, lock_data_directory
from app.worker.regrading_loop import RegradingLoop

WAIT_SECONDS = 0.3  # between looks at the progress
NOBODY = (
    "The queue has no worker, so nothing is graded: start one with `podium worker`. This command "
    "waits for it."
)


def work(context: Context, regrade_id: str) -> None:
    """Return once all submissions of the regrade are graded, with a progress bar in a terminal.

    Raises:
        Conflict: it was cancelled meanwhile.
    """
    with step_progress() as advance:
        seen = 0

        def is_done() -> bool:
            nonlocal seen
            shown = show.find(context, regrade_id)
            advance(shown.record.competition, shown.done - seen, shown.total)
            seen = shown.done
            if shown.record.state is RegradeState.CANCELLED:
                raise Conflict(f"{regrade_id} was cancelled: {shown.record.reason}.")
            return shown.record.state is not RegradeState.RUNNING

        if not is_done():
            _grade_or_wait(context, is_done)


def _grade_or_wait(context: Context, is_done: Callable[[], bool]) -> None:
    settings = context.settings
    if settings.queues:
        with context.database.read() as session:
            if not consumers(context, session):
                err.print(NOBODY)
        _wait(is_done)
        return
    try:
        lock = lock_data_directory(settings.data_dir)
    except DataDirectoryInUse:
        _wait(is_done)  # the server grades
        return
    try:
        context.graders.warm_up()
        looked = time.monotonic()

        def stop(idle: bool) -> bool:
            nonlocal looked
            if not idle and time.monotonic() - looked < WAIT_SECONDS:
                return False
            looked = time.monotonic()
            return is_done()

        RegradingLoop(context).run(stop)
    finally:
        os.close(lock)


def _wait(is_done: Callable[[], bool]) -> None:
    while not is_done():
        time.sleep(WAIT_SECONDS)
