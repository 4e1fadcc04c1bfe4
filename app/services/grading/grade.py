"""Grade queued submissions: claim them, let a grader work, hand in what came of it."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.graders.results import GradingResult
from app.queue import jobs
from app.services.grading.send_to_grader import send_to_grader
from app.services.runtime import gradings_in_progress
from app.services.runtime.context import Context
from app.services.runtime.write_outcomes import FinishedGrading
from app.storage.database import notify
from app.storage.database.records import ClaimRecord, SettledRecord
from app.storage.queries import claims, faults, submissions

DEATHS = 2  # of a server while it graded a file; then the file is not tried again


def requeue_left_behind(context: Context) -> int:
    """Queue again what this data directory's last server was grading when it died; says how many.

    Where a grader had the submission the attempt counts, and a fault names it: the grading may be
    why the server died. After the second such death of a submission, or its last attempt, it is
    failed and not tried again. What only waited for a grader loses no attempt.
    """
    attempts = context.settings.grading_attempts
    noted = gradings_in_progress.noted(context.settings)
    queued = context.database.write(
        lambda session: _requeue(session, context.instance, noted, attempts)
    )
    gradings_in_progress.clear(context.settings)
    return queued


def take_back(context: Context) -> int:
    """Queue again what this server is grading, as it stops; the attempts do not count."""
    queued = context.database.write(
        lambda session: submissions.requeue_claimed_by(
            session, context.instance, counts_attempt=False
        )
    )
    gradings_in_progress.clear(context.settings)
    return queued


def suspects(context: Context) -> list[str]:
    """The queued submissions during whose grading a server died, oldest first."""
    with context.database.read() as session:
        return submissions.queued_among(session, faults.with_deaths())


def claim(context: Context, limit: int, *, only: str | None = None) -> list[ClaimRecord]:
    """Take up to `limit` queued submissions, oldest first, or `only` one; nobody else gets them."""
    now = datetime.now(UTC)
    return context.database.write(
        lambda session: submissions.claim(session, context.instance, limit, now, only=only)
    )


def give_back(context: Context, claimed: ClaimRecord) -> Future[None]:
    """Queue a submission again whose grading we cut short ourselves; the attempt does not count."""
    return context.database.enqueue(lambda session: claims.give_back(session, claimed))


def defer_forgotten(context: Context) -> int:
    """Put every open submission that no job stands for into the queue; says how many."""
    total = 0
    while found := context.database.write(jobs.defer_forgotten):
        total += found
    return total


def start(context: Context, claimed: ClaimRecord) -> Future[GradingResult]:
    """Hand a claimed submission to a grader, once its files are on this machine.

    The future raises `Unavailable` or `StorageFull` where they could not be brought here just now:
    nothing was decided, and no attempt was used up.
    """
    begun = partial(gradings_in_progress.begin, context.settings, claimed.id)
    return send_to_grader(context, claimed.version_id, claimed.sha256, begun)


def end(context: Context, claimed: ClaimRecord) -> None:
    """Note that a grading is over: its outcome is written, or it was cut short on purpose."""
    gradings_in_progress.end(context.settings, claimed.id)


def finish(
    context: Context, claimed: ClaimRecord, outcome: GradingResult
) -> Future[SubmissionState | None]:
    """Write what came of it; done once committed. Says the state the submission is in then.

    None: the claim did not hold any more, and nothing was written.
    """
    metric = context.catalogue.version(claimed.version_id).document["metric"]["name"]
    return context.finished_gradings.add(
        FinishedGrading(claimed, outcome, metric, datetime.now(UTC))
    )


def _requeue(session: Session, instance: str, noted: frozenset[str], max_attempts: int) -> int:
    now = datetime.now(UTC)
    failed: list[str] = []
    waiting: list[str] = []
    left = submissions.claimed_by(session, instance)
    for submission_id, attempts in left:
        if submission_id not in noted:
            waiting.append(submission_id)
            continue
        deaths = faults.count_deaths(session, submission_id) + 1
        place = f"death {deaths} of a server while it graded this file"
        faults.add_fault(session, submission_id, attempts, faults.SERVER_DIED, place, now)
        if deaths >= DEATHS or attempts >= max_attempts:
            failed.append(submission_id)
    submissions.settle_all(
        session,
        [
            SettledRecord(
                id=one, state=SubmissionState.FAILED, problem=None, warnings=[], settled_at=now
            )
            for one in failed
        ],
    )
    notify.publish(session, failed)
    submissions.requeue_claimed_by(session, instance, counts_attempt=False, only=waiting)
    submissions.requeue_claimed_by(session, instance)
    return len(left) - len(failed)
