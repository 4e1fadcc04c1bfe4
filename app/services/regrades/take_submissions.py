"""Take submissions into a regrade, and find out that all are graded."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import RegradeState
from app.queue import jobs
from app.storage.queries.regrades import outcomes, regrades
from app.storage.queries.regrades.regrades import RegradeRecord


def finish_all(session: Session, *, queues: bool) -> None:
    """Make ready what was left running with nothing to grade, by a process that died."""
    for one in regrades.running(session):
        finish(session, one.id, queues=queues)


def take_submissions(session: Session, regrade: RegradeRecord, *, queues: bool) -> int:
    """Take settled submissions that the regrade does not have; gives how many, 0 for none left.

    With `queues` their jobs are made in the same transaction.
    """
    taken = outcomes.fill(session, regrade)
    if queues:
        jobs.defer_regradings(session, regrade.id, taken)
    return len(taken)


def finish(session: Session, regrade_id: str, *, queues: bool) -> bool:
    """Make a regrade ready if nothing is left to grade. Returns whether it is no more running.

    Submissions that were settled since it was started are taken in first.
    """
    if outcomes.queued(session, regrade_id, 1):
        return False
    found = regrades.get(session, regrade_id, locks=True)
    if found is None or found.state is not RegradeState.RUNNING:
        return True
    if take_submissions(session, found, queues=queues):
        return False
    now = datetime.now(UTC)
    return regrades.change_running(session, regrade_id, state=RegradeState.READY, ready_at=now)
