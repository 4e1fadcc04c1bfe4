"""Wait until a submission's outcome can be shown to the caller, then show it."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime

from app.domain.feedback import shown_at
from app.errors import StorageFull, Unavailable
from app.services.auth import Caller, is_live
from app.services.runtime.context import Context
from app.services.submissions import disclose
from app.services.submissions.disclose import Disclosed
from app.services.submissions.find_submissions import find
from app.storage.database.records import RunRecord, SubmissionRecord


async def wait_until_shown(
    context: Context,
    caller: Caller,
    run: RunRecord,
    submission: SubmissionRecord,
    settled: asyncio.Event,
    seconds: float,
) -> None:
    """Return when the outcome may be shown, after `seconds`, or when Podium shuts down.

    `settled` is the subscription to the submission's id. Under a policy that hides times, this
    returns only at the moments of `feedback.shown_at`, whenever the grading ended.
    """
    step = context.settings.outcome_step_seconds
    if not caller.is_run or not run.feedback.hides_time:
        step = 0.0
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds  # the server's clock may be set back while somebody waits
    shown: datetime | None = None
    while not context.notifications.is_closed:
        left = deadline - loop.time()
        if shown is not None:
            left = min(left, (shown - datetime.now(UTC)).total_seconds())
        if left <= 0:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(settled.wait(), left)
            settled.clear()  # the shutdown of Podium sets it again
            shown = shown or shown_at(submission.received_at, datetime.now(UTC), step)


def show_after_wait(
    context: Context, caller: Caller, run: RunRecord, submission: SubmissionRecord
) -> Disclosed:
    """The present state of a submission, for a caller who has waited since the state `submission`.

    A key that was revoked, has expired or was archived meanwhile is shown no outcome. Its request
    is not refused, because the file is stored. For the same reason a request is not refused while
    the database is away or full: a later request shows the outcome.
    """
    try:
        with context.database.read() as session:
            live = is_live(session, caller.key_id)
            now = find(context, session, caller, submission.id) if live else None
        if now is not None:
            return disclose.show_found(context, caller, now, is_first=True)
    except (Unavailable, StorageFull):
        if submission.state.is_settled:
            raise
    return disclose.show_new(context, caller, run, submission)
