"""Find submissions of a run, with only the outcomes that the caller may see at a moment.

Reading the outcome of a file with many mistakes takes longer. A caller who may not see it yet could
tell from the time of an answer that it exists, and so how long grading took.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from sqlalchemy.orm import Session

from app.domain.feedback import is_shown
from app.errors import NotFound
from app.services.auth import Caller, may_reach
from app.services.runtime.context import Context
from app.storage.database.records import GradeRecord, RunRecord, SubmissionRecord
from app.storage.queries import runs, submissions

Found = list[tuple[SubmissionRecord, GradeRecord | None]]


class FoundSubmission(NamedTuple):
    """A submission with its grade, and its run, as the caller may see them at the time `at`."""

    run: RunRecord
    submission: SubmissionRecord
    grade: GradeRecord | None
    at: datetime


class Query(Protocol):
    """A query for submissions of one run, which reads their outcomes only if asked to."""

    def __call__(self, *, outcomes: bool) -> Found:
        """The submissions."""


def read_outcomes(
    context: Context, session: Session, caller: Caller, run: RunRecord, now: datetime, query: Query
) -> Found:
    """The submissions that a query finds, with the outcomes that the caller may see `now`.

    Show them as of the same moment. Submissions that are hidden then have no grade, problem or
    warnings.
    """
    step = context.settings.outcome_step_seconds
    if not caller.is_run or not run.feedback.hides_time or step <= 0:
        return query(outcomes=caller.reads_outcomes(run))
    found = query(outcomes=False)
    shown = [
        one
        for one, _ in found
        if one.run_id == run.id
        and one.settled_at is not None
        and is_shown(one.received_at, one.settled_at, now, step)
    ]
    known = submissions.with_outcomes(session, shown)
    return [known.get(one.id, (one, None)) for one, _ in found]


def find(context: Context, session: Session, caller: Caller, submission_id: str) -> FoundSubmission:
    """A submission of a run that the caller may reach.

    Raises:
        NotFound: the submission does not exist, or it belongs to another run.
    """
    now = datetime.now(UTC)
    own = runs.get_run(session, caller.run_id) if caller.run_id is not None else None

    def query(*, outcomes: bool = True) -> Found:
        known = submissions.get_submission(session, submission_id, outcomes=outcomes)
        return [] if known is None else [known]

    found = query() if own is None else read_outcomes(context, session, caller, own, now, query)
    run = runs.get_run(session, found[0][0].run_id) if found and own is None else own
    if not found or run is None or found[0][0].run_id != run.id or not may_reach(caller, run):
        raise NotFound(f"There is no submission {submission_id!r} for this key.")
    return FoundSubmission(run, *found[0], now)
