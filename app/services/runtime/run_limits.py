"""Find a run, start its clock, and refuse a submission beyond its time or its quotas."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.competition import Competition
from app.domain.states import RunState
from app.errors import (
    Conflict,
    NotFound,
    QuotaExceeded,
    RunClosed,
    TakesNoSubmissions,
)
from app.services.runtime.shown_outcomes import received_without_outcome
from app.storage.database.database import Database
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import runs, submission_counts

DAY = timedelta(days=1)


class IdempotencyMismatch(Conflict):
    """This Idempotency-Key was used before with other bytes."""


def refuse_closed(run: RunRecord, now: datetime) -> None:
    """Refuse a submission after the end of a run. A run's hours count from its start.

    Raises:
        RunClosed: the run was closed, or its hours are over.
    """
    if run.state is RunState.CLOSED:
        raise RunClosed(f"Run {run.id} is closed and accepts nothing more.")
    hours = run.limits.get("hours")
    if hours is None or run.started_at is None:
        return
    if now - run.started_at >= timedelta(hours=hours):
        raise RunClosed(f"Run {run.id} had {hours:g} hours from its start, and they are over.")


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
    session: Session, run: RunRecord, now: datetime, *, accepted: int = 0, step: float = 0.0
) -> None:
    """Refuse a submission beyond the run's quotas.

    Rejected and failed submissions do not count, with two exceptions, where the quota would reveal
    whether a file was valid: under the policy `none`, and while the run's key may not see the
    outcome yet. `step` is PODIUM_OUTCOME_STEP_SECONDS.

    `accepted` is the number of submissions accepted in this transaction but not stored yet.

    Raises:
        QuotaExceeded: the quota is used up; names the time when the next submission is possible.
    """
    total = run.limits.get("submissions_total")
    per_day = run.limits.get("submissions_per_day")
    if total is None and per_day is None:
        return
    everything = not run.feedback.shows_state
    # An index is enough for this query. Which of them count is read only if it matters.
    largest = max(limit for limit in (total, per_day) if limit is not None)
    most = submission_counts.count_at_most(session, run.id, largest) + accepted

    def used(since: datetime | None) -> tuple[int, list[datetime]]:
        """The number of submissions that count since a time, and the times of the hidden ones.

        Submissions with a hidden outcome count. The queries are repeated if a submission was
        settled between them, because it may have counted twice.
        """

        def without_outcome() -> list[datetime]:
            received = received_without_outcome(session, run, now, step)
            return [at for at in received if since is None or at > since]

        hidden = without_outcome()
        while True:
            counted = submission_counts.count_counted(
                session, run.id, since=since, everything=everything
            )
            before, hidden = hidden, without_outcome()
            if len(hidden) == len(before):
                return counted + len(hidden) + accepted, hidden

    if total is not None and most >= total and used(None)[0] >= total:
        raise QuotaExceeded(
            f"Run {run.id} has used all of its {total} submissions. This limit is for the whole "
            "run: waiting does not renew it.",
            retry_after=int(DAY.total_seconds()),
        )
    if per_day is None or most < per_day:
        return
    since = now - DAY
    today, hidden = used(since)
    if today < per_day:
        return
    # Hidden ones count as if they were still waiting, so the time reveals nothing about them.
    oldest = submission_counts.counted_time(
        session, run.id, since, later=per_day - 1, everything=everything, others=hidden
    )
    free_at = (oldest or now) + DAY
    raise QuotaExceeded(
        f"Run {run.id} may send {per_day} submissions in 24 hours; "
        f"the next is free at {free_at.isoformat(timespec='seconds')}.",
        retry_after=int((free_at - now).total_seconds()) + 1,
    )


def refuse_other_file(known: SubmissionRecord, sha256: str) -> None:
    """Refuse a file whose key or attempt was used with another file, which is `known`.

    Raises:
        IdempotencyMismatch: the digest is not that of the known submission.
    """
    if known.sha256 != sha256:
        raise IdempotencyMismatch(
            f"This Idempotency-Key or attempt was already sent with another file ({known.id}). "
            "Send a new one with a new file."
        )


def existing_run(session: Session, run_id: str) -> RunRecord:
    """The run with this id, whoever asks.

    Raises:
        NotFound: the run does not exist.
    """
    run = runs.get_run(session, run_id)
    if run is None:
        raise no_run(run_id)
    return run


def no_run(run_id: str) -> NotFound:
    """The error for a run that does not exist, and for a run of another key."""
    return NotFound(f"There is no run {run_id!r} for this key.")


def start_clocks(database: Database, run_ids: Iterable[str | None]) -> None:
    """Start the clocks of these runs now, where they have not started. None is ignored.

    Why: docs/decisions/0026-a-runs-clock-starts-at-its-first-request.md.

    Returns when the start is committed. A clock is started once, whatever the number of servers.

    Raises:
        Unavailable: the database stays locked or away.
    """
    waiting = {run_id for run_id in run_ids if run_id is not None}
    if not waiting:
        return
    now = datetime.now(UTC)
    database.write(lambda session: runs.start_clocks(session, waiting, now))
