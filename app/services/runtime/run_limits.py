"""The limits of a run: its time and its quotas of submissions."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.competition import Competition
from app.domain.states import RunState
from app.errors import (
    IdempotencyMismatch,
    QuotaExceeded,
    RunClosed,
    TakesNoSubmissions,
)
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import submissions

DAY = timedelta(days=1)


def refuse_closed(run: RunRecord, now: datetime) -> None:
    """Refuse a submission after the end of a run.

    Raises:
        RunClosed: the run was closed, or its hours are over.
    """
    if run.state is RunState.CLOSED:
        raise RunClosed(f"Run {run.id} is closed and accepts nothing more.")
    hours = run.limits.get("hours")
    if hours is not None and now - run.created_at >= timedelta(hours=hours):
        raise RunClosed(f"Run {run.id} had {hours:g} hours, and they are over.")


def refuse_measured(competition: Competition) -> None:
    """Refuse a submission to a competition whose results are measured, not graded.

    Raises:
        TakesNoSubmissions: the competition's results are measured.
    """
    if competition.is_measured:
        raise TakesNoSubmissions(
            f"{competition.slug} takes no submissions: its {competition.metric.name} is measured "
            "by a harness, and a researcher's key reports it (POST /v1/runs/{id}/reported-scores)."
        )


def refuse_over_quota(
    session: Session, run: RunRecord, now: datetime, *, accepted: int = 0
) -> None:
    """Refuse a submission beyond the run's quotas.

    Rejected and failed submissions do not count, except under the policy `none`: the quota would
    tell there whether a file was valid.

    `accepted` is the number of submissions accepted in this transaction but not stored yet.

    Raises:
        QuotaExceeded: the quota is used up; names the time when the next submission is possible.
    """
    total = run.limits.get("submissions_total", math.inf)
    per_day = run.limits.get("submissions_per_day")
    everything = not run.feedback.shows_state
    if (
        math.isfinite(total)
        and submissions.count_counted(session, run.id, everything=everything) + accepted >= total
    ):
        raise QuotaExceeded(
            f"Run {run.id} has used all of its {total} submissions.",
            retry_after=int(DAY.total_seconds()),
        )
    if per_day is None:
        return
    times = submissions.counted_times(session, run.id, since=now - DAY, everything=everything)
    if len(times) + accepted < per_day:
        return
    free_at = (times[-per_day] if len(times) >= per_day else now) + DAY
    raise QuotaExceeded(
        f"Run {run.id} may send {per_day} submissions in 24 hours; "
        f"the next is free at {free_at.isoformat(timespec='seconds')}.",
        retry_after=int((free_at - now).total_seconds()) + 1,
    )


def refuse_other_file(known: SubmissionRecord, sha256: str) -> None:
    """Refuse a file whose Idempotency-Key came with another one; `known` was stored with it.

    Raises:
        IdempotencyMismatch: the digest is not that of the known submission.
    """
    if known.sha256 != sha256:
        raise IdempotencyMismatch(
            f"This Idempotency-Key was already sent with another file ({known.id}). "
            "Send a new key with a new file."
        )
