"""Regrade a competition: start or continue, wait, and apply or cancel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.cli.context import podium
from app.cli.operation.grading_work import grade_or_wait
from app.cli.progress import step_progress
from app.domain.states import RegradeState
from app.errors import Conflict
from app.reports.regrades import regrade_details, regrade_document
from app.services.regrades import show
from app.services.regrades.apply import apply
from app.services.regrades.start import cancel, start
from app.services.regrades.verification import verification
from app.services.runtime.context import Context
from app.services.runtime.environment import this_environment
from app.worker.loop import regrading_loop

LISTED = 1000  # submissions that differ; the others are at /v1/regrades/ID


@dataclass(frozen=True, slots=True)
class RegradeRequest:
    """The requested regrade; `to` and `submission` as in `start`."""

    slug: str
    to: int | None
    submission: str | None
    verify: bool
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Regraded:
    """A finished regrade as JSON, and whether a verification found no difference."""

    document: dict[str, Any]
    is_equal: bool


def regrade_now(wanted: RegradeRequest, reason: str | None) -> Regraded:
    """Return once all is graded, and applied if there is a `reason`.

    A regrade that a verification or a dry run started is cancelled.
    """
    with podium(grades=True) as context:
        regrade_id, is_new = _started(context, wanted.slug, wanted.to, wanted.submission)
        _work(context, regrade_id)
        made = _made(context, regrade_id, verify=wanted.verify)
        if reason is not None:
            apply(context, regrade_id, reason=reason, by=None)
        elif is_new and (wanted.dry_run or wanted.verify):
            why = "verified" if wanted.verify else "dry run"
            cancel(context, regrade_id, reason=why, by=None)
        # The difference was computed before it was applied; its state is the present one.
        now = regrade_document(show.find(context, regrade_id))
    return replace(made, document=made.document | now)


def _started(
    context: Context, slug: str, to: int | None, submission: str | None
) -> tuple[str, bool]:
    """The regrade to continue, and whether it is new.

    A regrade with the same request that is running, or is ready and has all submissions, is used.
    """
    own = this_environment()
    cursor: str | None = None
    while True:
        found, cursor = show.page(context, slug, cursor, 1000)
        for one in found:
            record = one.record
            is_ready = record.state is RegradeState.READY and not one.missing
            is_open = is_ready or record.state is RegradeState.RUNNING  # adds missing ones
            same = (one.version, record.submission_id) == (to, submission)
            if is_open and same and record.began_in == own:
                return record.id, False
        if cursor is None:
            made = start(context, slug, version=to, submission=submission, by=None)
            return made.id, True


def _work(context: Context, regrade_id: str) -> None:
    """Return once all submissions of the regrade are graded, with a progress bar in a terminal.

    Raises:
        Conflict: it was cancelled meanwhile.
    """
    with step_progress() as progress:
        seen = 0

        def is_done() -> bool:
            nonlocal seen
            shown = show.find(context, regrade_id)
            progress(shown.record.competition, shown.done - seen, shown.total)
            seen = shown.done
            if shown.record.state is RegradeState.CANCELLED:
                raise Conflict(f"{regrade_id} was cancelled: {shown.record.reason}.")
            return shown.record.state is not RegradeState.RUNNING

        if not is_done():
            grade_or_wait(context, is_done, regrading_loop(context).run)


def _made(context: Context, regrade_id: str, *, verify: bool) -> Regraded:
    """The regrade with all of its changes."""
    document = regrade_details(context, regrade_id, None, LISTED)
    if not verify:
        return Regraded(document, is_equal=True)
    found = verification(context, regrade_id)
    return Regraded({**document, "verification": found}, found["different"] == 0)
