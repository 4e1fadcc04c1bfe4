"""Wait until a regrade is graded: by this process if no server grades here, else by others."""

from __future__ import annotations

from app.cli.operation.grading_work import grade_or_wait
from app.cli.output import step_progress
from app.domain.states import RegradeState
from app.errors import Conflict
from app.services.regrades import show
from app.services.runtime.context import Context
from app.worker.loop import regrading_loop


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
            grade_or_wait(context, is_done, regrading_loop(context).run)
