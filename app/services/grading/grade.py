"""Grade queued submissions: claim them, let a grader work, hand in what came of it."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, datetime

from app.domain.states import SubmissionState
from app.graders.outcomes import Outcome
from app.queue import jobs
from app.services.grading.send_to_grader import send_to_grader
from app.services.runtime.context import Context
from app.services.runtime.write_outcomes import FinishedGrading
from app.storage.database.records import ClaimRecord
from app.storage.queries import claims, submissions


def requeue_left_behind(context: Context) -> int:
    """Queue again what this data directory's last server was grading when it died."""
    return context.database.write(
        lambda session: submissions.requeue_claimed_by(
            session, context.instance, counts_attempt=False
        )
    )


def claim(context: Context, limit: int) -> list[ClaimRecord]:
    """Take up to `limit` queued submissions, oldest first; nobody else gets them."""
    now = datetime.now(UTC)
    return context.database.write(
        lambda session: submissions.claim(session, context.instance, limit, now)
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


def start(context: Context, claimed: ClaimRecord) -> Future[Outcome]:
    """Hand a claimed submission to a grader, once its files are on this machine.

    The future raises `Unavailable` or `StorageFull` where they could not be brought here just now:
    nothing was decided, and no attempt was used up.
    """
    return send_to_grader(context, claimed.version_id, claimed.sha256)


def finish(
    context: Context, claimed: ClaimRecord, outcome: Outcome
) -> Future[SubmissionState | None]:
    """Write what came of it; done once committed. Says the state the submission is in then.

    None: the claim did not hold any more, and nothing was written.
    """
    metric = context.catalogue.version(claimed.version_id).document["metric"]["name"]
    return context.finished_gradings.add(
        FinishedGrading(claimed, outcome, metric, datetime.now(UTC))
    )
