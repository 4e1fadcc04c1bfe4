"""Queue again the submissions that a stop, a death or a lost job left behind."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.queue import jobs
from app.services.grading import gradings_in_progress
from app.services.runtime.context import Context
from app.storage.database import notify
from app.storage.database.records import SettledRecord
from app.storage.queries import submissions
from app.storage.queries.operation import faults

WORKER_LOST = "worker_lost"  # the kind of a fault, the same as for a lost worker of a queue
log = logging.getLogger("podium.worker")
DEATHS = 2  # after so many deaths of a server that graded a file, it is not tried again


def requeue_left_behind(context: Context) -> int:
    """Queue again the submissions that the last server of this data directory was grading.

    Returns their number.

    If a grader had the submission, the attempt counts, with a fault: the grading may be why the
    server died. After the second such death, or the last attempt, the submission is failed and not
    tried again. A submission that only waited for a grader loses no attempt.
    """
    attempts = context.settings.grading_attempts
    noted = gradings_in_progress.noted(context.settings)
    queued = context.database.write(
        lambda session: _requeue(session, context.instance, noted, attempts)
    )
    gradings_in_progress.clear(context.settings)
    return queued


def give_back_all(context: Context) -> int:
    """Queue again what this server is grading, as it stops; the attempts do not count.

    Raises:
        Unavailable, StorageFull: the next start queues it, and counts no attempt either.
    """
    try:
        return context.database.write(
            lambda session: submissions.requeue_claimed_by(
                session, context.instance, counts_attempt=False
            )
        )
    finally:
        gradings_in_progress.clear(context.settings)  # no grader has a file any more


def take_over(context: Context, gone: frozenset[str]) -> frozenset[str]:
    """Queue again what dead servers were grading. A server is dead if it was gone at two checks.

    `gone` is the result of the check before; a server that only lost its connection is back by now.
    Returns the servers that are gone now.

    This is for servers that share a PostgreSQL database. As with a lost worker, the attempts count,
    and after the last one a submission is failed. If a server was not dead, its outcome is dropped.
    """
    attempts = context.settings.grading_attempts

    def look(session: Session) -> frozenset[str]:
        found = frozenset(
            one
            for one in submissions.claimants(session)
            if one != context.instance and not notify.is_listening(session, one)
        )
        for one in sorted(found & gone):
            _requeue_lost(session, one, attempts)
        return found

    return context.database.write(look)


def suspects(context: Context) -> list[str]:
    """The queued submissions during whose grading a server died, oldest first."""
    with context.database.read() as session:
        return submissions.queued_among(session, faults.with_deaths())


def defer_forgotten(context: Context) -> int:
    """Make jobs for open submissions that have none. Returns their number."""
    total = 0
    while found := context.database.write(jobs.defer_forgotten):
        total += found
    return total


def _requeue(session: Session, instance: str, noted: frozenset[str], max_attempts: int) -> int:
    now = datetime.now(UTC)
    failed: list[str] = []
    waiting: list[str] = []
    left = submissions.claimed_by(session, instance)
    for submission_id, _, attempts in left:
        if submission_id not in noted:
            waiting.append(submission_id)
            continue
        deaths = faults.count_deaths(session, submission_id) + 1
        place = f"death {deaths} of a server while it graded this file"
        faults.add_fault(session, submission_id, attempts, faults.SERVER_DIED, place, now)
        if deaths >= DEATHS or attempts >= max_attempts:
            failed.append(submission_id)
    _settle_or_queue(session, instance, left, failed, waiting, now)
    return len(left) - len(failed)


def _requeue_lost(session: Session, instance: str, max_attempts: int) -> None:
    now, failed = datetime.now(UTC), list[str]()
    left = submissions.claimed_by(session, instance)
    for submission_id, _, attempts in left:
        faults.add_fault(session, submission_id, attempts, WORKER_LOST, "", now)
        if attempts >= max_attempts:
            failed.append(submission_id)
    log.warning("took over from a server that is gone", extra={"submissions": len(left)})
    _settle_or_queue(session, instance, left, failed, [], now)


def _settle_or_queue(
    session: Session,
    instance: str,
    left: list[tuple[str, str, int]],
    failed: list[str],
    waiting: list[str],
    now: datetime,
) -> None:
    """Fail some of the submissions `left`, and queue the others; the `waiting` lose no attempt."""
    submissions.settle_all(
        session,
        [
            SettledRecord(
                id=one, state=SubmissionState.FAILED, problem=None, warnings=[], settled_at=now
            )
            for one in failed
        ],
    )
    notify.publish(session, [*failed, *(run_id for _, run_id, _ in left)])
    submissions.requeue_claimed_by(session, instance, counts_attempt=False, only=waiting)
    submissions.requeue_claimed_by(session, instance)
