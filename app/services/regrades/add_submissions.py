"""Add submissions to a regrade, and find out that all of them are graded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import RegradeState
from app.queue import jobs
from app.services.runtime.own_metrics import OwnMetrics
from app.storage.database.records import AddedSubmission
from app.storage.queries.regrades import members, outcomes, regrades
from app.storage.queries.regrades.regrades import RegradeRecord


def finish_all(session: Session) -> None:
    """Mark as ready the regrades of the queue that a dead process left with nothing to grade."""
    for one in regrades.running(session):
        finish(session, one.id, queues=True)


def add_submissions(
    session: Session, regrade: RegradeRecord, *, queues: bool
) -> list[AddedSubmission]:
    """Add the first settled submissions that the regrade does not have. Returns them.

    With `queues` their jobs are made in the same transaction.
    """
    added = members.fill(session, regrade)
    _defer(session, regrade, added, queues=queues)
    return added


def add_listed(
    session: Session, regrade_id: str, listed: Sequence[AddedSubmission], *, queues: bool
) -> int:
    """Add those of these submissions that a regrade does not have, and return how many.

    If the regrade is not running any more, none are added. The regrade is locked, so that no
    grading process finishes it meanwhile.
    """
    found = regrades.get(session, regrade_id, locks=True)
    if found is None or found.state is not RegradeState.RUNNING:
        return 0
    added = members.add(session, found, listed)
    _defer(session, found, added, queues=queues)
    return len(added)


def _defer(
    session: Session, regrade: RegradeRecord, added: Sequence[AddedSubmission], *, queues: bool
) -> None:
    if queues:
        own = OwnMetrics().among(session, {one.version_id for one in added})
        jobs.defer_regradings(
            session, regrade.id, [(one.submission_id, one.bytes) for one in added],
            {one.submission_id for one in added if one.version_id in own},
        )  # fmt: skip


def finish(session: Session, regrade_id: str, *, queues: bool) -> bool:
    """Make a regrade ready if nothing is left to grade. Returns whether it is not running any more.

    Submissions that were settled since it was started are added first.
    """
    if outcomes.queued(session, regrade_id, 1):
        return False
    found = regrades.get(session, regrade_id, locks=True)
    if found is None or found.state is not RegradeState.RUNNING:
        return True
    if outcomes.queued(session, regrade_id, 1):  # somebody added them just before it was locked
        return False
    if add_submissions(session, found, queues=queues):
        return False
    now = datetime.now(UTC)
    return regrades.change_running(session, regrade_id, state=RegradeState.READY, ready_at=now)
