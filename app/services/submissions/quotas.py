"""How many submissions a run may still send."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.errors import RunClosed
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.runtime.run_limits import DAY, refuse_closed, refuse_measured, refuse_over_quota
from app.services.runtime.shown_outcomes import received_without_outcome
from app.services.submissions.record_disclosures import record_counted_failures
from app.storage.database.records import RunRecord
from app.storage.queries import submission_counts


@dataclass(frozen=True, slots=True)
class Quota:
    """How many submissions of a run count, and how many more it may send (None: no limit)."""

    today: int
    total: int
    allowed_now: int | None
    is_limited_by_total: bool


def quota(context: Context, caller: Caller, run: RunRecord) -> Quota:
    """How much of its quota a run has used at this moment.

    The numbers reveal how many files failed, so the failures are entered in the ledger first.
    """
    used = _quota(context, run)
    record_counted_failures(context, caller, run)
    return used


def _quota(context: Context, run: RunRecord) -> Quota:
    now, everything = datetime.now(UTC), not run.feedback.shows_state
    with context.database.read() as session:
        today = submission_counts.count_counted(
            session, run.id, since=now - DAY, everything=everything
        )
        total = submission_counts.count_counted(session, run.id, everything=everything)
        hidden = received_without_outcome(session, run, now, context.settings.outcome_step_seconds)
        has_failures_left = _has_failures_left(context, session, run, now)
    total += len(hidden)
    today += sum(received > now - DAY for received in hidden)
    left_today = _left(run.limits.get("submissions_per_day"), today)
    left = _left(run.limits.get("submissions_total"), total)
    if not has_failures_left or _is_over(run, now):
        return Quota(today, total, 0, is_limited_by_total=True)
    known = [count for count in (left_today, left) if count is not None]
    by_total = left is not None and (left_today is None or left <= left_today)
    return Quota(today, total, min(known, default=None), by_total)


def refuse_unstorable(context: Context, run: RunRecord, size: int = 0) -> None:
    """Refuse, before any bytes are sent, a submission of this size that could not be stored.

    Raises:
        RunClosed, TakesNoSubmissions, QuotaExceeded, TooManyFailures: as for a submission that was
            sent.
    """
    now = datetime.now(UTC)
    refuse_closed(run, now)
    refuse_measured(context.catalogue.of_version(run.version_id).competition)
    with context.database.read() as session:
        refuse_over_quota(session, run, now, step=context.settings.outcome_step_seconds)
        context.reservations.failures.refuse(session, run, now)
    context.reservations.stored.require(context.database, run.id, size)


def _is_over(run: RunRecord, now: datetime) -> bool:
    try:
        refuse_closed(run, now)
    except RunClosed:
        return True
    return False


def _has_failures_left(context: Context, session: Session, run: RunRecord, now: datetime) -> bool:
    failures = context.reservations.failures
    if not run.feedback.shows_state:
        return True
    return failures.of_run(session, run, now).known < failures.limit


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)
