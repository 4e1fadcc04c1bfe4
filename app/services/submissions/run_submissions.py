"""A page of a run's submissions, with its place in the list and the final submission."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.runtime.shown_outcomes import shown_outcome
from app.services.submissions import disclose
from app.services.submissions.disclose import Disclosed
from app.services.submissions.find_submissions import read_outcomes
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import results, submission_counts, submissions


@dataclass(frozen=True, slots=True)
class SubmissionPage:
    """Submissions, oldest first.

    `before` is the number of earlier ones, `total` that of all, and `final` the id of the run's
    final submission, which may be on another page.
    """

    found: list[Disclosed]
    before: int
    total: int
    final: str | None
    next_cursor: str | None


def first_from(context: Context, caller: Caller, run: RunRecord, start: str) -> Disclosed | None:
    """The first submission of a run whose id begins with `start`, as the caller may see it."""
    now = datetime.now(UTC)
    with context.database.read() as session:
        query = partial(submissions.list_submissions, session, run.id, after=start, limit=1)
        found = read_outcomes(context, session, caller, run, now, query)
    if not found or not found[0][0].id.startswith(start):
        return None
    return disclose.show_all(context, caller, run, found, now=now)[0]


def record_from(context: Context, run_id: str, start: str) -> SubmissionRecord | None:
    """The first submission of a run whose id begins with `start`. Discloses no outcome."""
    with context.database.read() as session:
        found = submissions.list_submissions(session, run_id, after=start, limit=1, outcomes=False)
    return found[0][0] if found and found[0][0].id.startswith(start) else None


def newest_and_best(
    context: Context, caller: Caller, run: RunRecord, score: str, *, higher_is_better: bool
) -> tuple[datetime, float | None] | None:
    """When the run's newest file was received, and its best `score` that its key may see now.

    `score` is the name of a score in grades. Only this number is entered in the ledger. None
    without a submission.
    """
    now, step = datetime.now(UTC), context.settings.outcome_step_seconds
    with context.database.read() as session:
        newest = submissions.latest_submissions(session, run.id, limit=1, outcomes=False)
        if not newest:
            return None
        received_at = newest[0][0].received_at
        if not run.feedback.shows_public_score:
            return received_at, None
        graded = submissions.best_first(session, run.id, score, higher_is_better=higher_is_better)
        best = next((one for one in graded if _is_shown(run, one, now, step)), None)
        found = submissions.with_outcomes(session, [best] if best else [])
    if not found:
        return received_at, None
    grade = disclose.show_all(context, caller, run, list(found.values()), now=now)[0].grade
    return received_at, None if grade is None else grade[score]


def _is_shown(run: RunRecord, submission: SubmissionRecord, now: datetime, step: float) -> bool:
    seen, _ = shown_outcome(run.feedback, submission, None, now=now, step=step)
    return seen.state.is_settled


def submission_page(
    context: Context, caller: Caller, run: RunRecord, after: str | None, limit: int
) -> SubmissionPage:
    """At most `limit` submissions after the id `after`, as a reader of results sees them.

    The final submission is the one that results count: the selected one, or else the last valid
    one, by the regrade in force.
    """
    found, next_cursor = disclose.page(context, caller, run, after, limit)
    with context.database.read() as session:
        before = submissions.count_up_to(session, run.id, after)[0] if after else 0
        total = submission_counts.count_counted(session, run.id, everything=True)
        result = next(results.run_results(session, run=run.id), None)
    final = result.final if result else None
    return SubmissionPage(found, before, total, final, next_cursor)
