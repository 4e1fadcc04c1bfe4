"""Take a submission in: bytes to a synced blob, then a row, then the grading loop is woken."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.states import RunState, SubmissionState
from app.errors import IdempotencyMismatch, NotFound, QuotaExceeded, RunClosed
from app.services import runs as run_service
from app.services.caller import Caller, authenticate, require_own_run
from app.services.context import Context
from app.storage import runs, submissions
from app.storage.blobs import Blob
from app.storage.ids import new_id
from app.storage.records import RunRecord, SubmissionRecord

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Offer:
    """What comes with a submission's bytes."""

    message: str
    idempotency_key: str | None
    file_name: str | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """What a run has sent of what counts, and how many more it may send now; None: no limit."""

    today: int
    total: int
    allowed_now: int | None
    is_limited_by_total: bool


@dataclass(frozen=True, slots=True)
class Received:
    """A stored submission, and whether this request stored it."""

    submission: SubmissionRecord
    created: bool


def admit(context: Context, key: str | None, run_id: str) -> tuple[Caller, RunRecord]:
    """Who is calling, and the open run the bytes are for: asked before a byte is read.

    Raises:
        Unauthorized, NotFound: the key is not valid, or not for this run.
        RunClosed: the run accepts nothing more.
    """
    caller = authenticate(context, key)
    require_own_run(caller, run_id)
    run = run_service.find(context, caller, run_id)
    refuse_closed(run, datetime.now(UTC))
    return caller, run


def store(
    context: Context, run: RunRecord, submission_id: str, blob: Blob, offer: Offer
) -> Future[Received]:
    """Store the row of a submission whose bytes are on disk; done once it is committed.

    The future raises RunClosed, QuotaExceeded or IdempotencyMismatch: then nothing was stored.
    """
    received_at = datetime.now(UTC)
    new = SubmissionRecord(
        id=submission_id,
        run_id=run.id,
        version_id=run.version_id,
        state=SubmissionState.QUEUED,
        message=offer.message,
        bytes=blob.bytes,
        sha256=blob.sha256,
        idempotency_key=offer.idempotency_key,
        received_at=received_at,
        settled_at=None,
        run_seconds=(received_at - run.created_at).total_seconds(),
        problem=None,
        warnings=[],
        attempts=0,
        file_name=offer.file_name,
    )

    def record(session: Session) -> Received:
        now = runs.lock_run(session, run.id)
        if now is None:
            raise NotFound(f"There is no run {run.id!r} for this key.")
        if offer.idempotency_key is not None:
            known = submissions.by_idempotency_key(session, run.id, offer.idempotency_key)
            if known is not None:
                if known.sha256 != blob.sha256:
                    raise IdempotencyMismatch(
                        f"This Idempotency-Key already came with other bytes ({known.id}). "
                        "Send a new key with a new file."
                    )
                return Received(known, created=False)
        refuse_closed(now, received_at)
        _refuse_over_quota(session, now, received_at)
        submissions.add_submission(session, new)
        return Received(new, created=True)

    return context.database.enqueue(record)


def new_submission_id() -> str:
    """The id of a submission, given before its row exists so that one can wait for it."""
    return new_id("sub")


def quota(context: Context, run: RunRecord) -> Quota:
    """How much of its quota a run has used, as of now."""
    limits = run.limits or {}
    now = datetime.now(UTC)
    with context.database.read() as session:
        today = submissions.count_counted(session, run.id, since=now - DAY)
        total = submissions.count_counted(session, run.id)
    left_today = _left(limits.get("submissions_per_day"), today)
    left = _left(limits.get("submissions_total"), total)
    known = [count for count in (left_today, left) if count is not None]
    by_total = left is not None and (left_today is None or left <= left_today)
    return Quota(today, total, min(known, default=None), by_total)


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)


def refuse_what_cannot_be_stored(context: Context, run: RunRecord) -> None:
    """Refuse before any bytes are sent what `store` would refuse afterwards.

    Raises:
        RunClosed, QuotaExceeded: as `store` does.
    """
    now = datetime.now(UTC)
    refuse_closed(run, now)
    with context.database.read() as session:
        _refuse_over_quota(session, run, now)


def refuse_closed(run: RunRecord, now: datetime) -> None:
    """Refuse what comes after the end of a run.

    Raises:
        RunClosed: the run was closed, or its hours are over.
    """
    if run.state == RunState.CLOSED:
        raise RunClosed(f"Run {run.id} is closed and accepts nothing more.")
    hours = (run.limits or {}).get("hours")
    if hours is not None and now - run.created_at >= timedelta(hours=hours):
        raise RunClosed(f"Run {run.id} had {hours:g} hours, and they are over.")


def _refuse_over_quota(session: Session, run: RunRecord, now: datetime) -> None:
    """Count what is graded and what may yet be; a rejected or failed file costs nothing."""
    limits = run.limits or {}
    total, per_day = limits.get("submissions_total"), limits.get("submissions_per_day")
    if total is not None and submissions.count_counted(session, run.id, since=None) >= total:
        raise QuotaExceeded(
            f"Run {run.id} has used all of its {total} submissions.",
            retry_after=int(DAY.total_seconds()),
        )
    if per_day is None or submissions.count_counted(session, run.id, since=now - DAY) < per_day:
        return
    times = submissions.counted_times(session, run.id, since=now - DAY)
    free_at = times[-per_day] + DAY if per_day else now + DAY
    raise QuotaExceeded(
        f"Run {run.id} may send {per_day} submissions in 24 hours; "
        f"the next is free at {free_at.isoformat(timespec='seconds')}.",
        retry_after=int((free_at - now).total_seconds()) + 1,
    )
