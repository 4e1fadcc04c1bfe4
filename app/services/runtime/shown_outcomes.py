"""The part of an outcome that a run's key may see at a moment: see `app.domain.feedback`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.feedback import LONGEST_STEP, Feedback, is_shown, shown_at
from app.domain.states import SubmissionState
from app.storage.database.records import GradeRecord, RunRecord, SubmissionRecord
from app.storage.queries import submission_counts


def shown_outcome(
    policy: Feedback,
    submission: SubmissionRecord,
    grade: GradeRecord | None,
    *,
    now: datetime,
    step: float,
) -> tuple[SubmissionRecord, GradeRecord | None]:
    """The submission and its grade as this policy shows them to a run's key at the time `now`.

    Under a policy that hides times, a submission is `queued` until its outcome may be shown, and
    the time of the outcome is the moment from which it may be shown.
    """
    if not policy.hides_time or step <= 0 or submission.state is SubmissionState.QUEUED:
        return submission, grade
    at, settled_at = outcome_shown_at(submission, step), submission.settled_at
    if at is None or settled_at is None:
        return _waiting(submission), None
    if not is_shown(submission.received_at, settled_at, now, step):
        return _waiting(submission), None
    shown = replace(submission, settled_at=at)
    return shown, grade if grade is None else replace(grade, graded_at=at)


def outcome_shown_at(submission: SubmissionRecord, step: float) -> datetime | None:
    """The time from which the outcome may be shown; None while there is none."""
    if not submission.state.is_settled or submission.settled_at is None:
        return None
    return shown_at(submission.received_at, submission.settled_at, step)


def received_without_outcome(
    session: Session, run: RunRecord, now: datetime, step: float
) -> list[datetime]:
    """Times of receipt of uncounted submissions whose outcome the run's key may not see yet.

    The quota counts them until then; otherwise it would disclose when they were settled.
    """
    if not run.feedback.hides_time or step <= 0:
        return []
    settled = submission_counts.uncounted_since(
        session, run.id, now - timedelta(seconds=LONGEST_STEP * step)
    )
    return [received for received, at in settled if not is_shown(received, at, now, step)]


def _waiting(submission: SubmissionRecord) -> SubmissionRecord:
    return replace(
        submission, state=SubmissionState.QUEUED, settled_at=None, problem=None, warnings=[]
    )
