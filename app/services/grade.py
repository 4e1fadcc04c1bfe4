"""Grade queued submissions: claim them, let a grader work, write exactly one outcome each."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app import __version__
from app.domain.states import SubmissionState
from app.domain.verdict import Verdict, problem_document
from app.graders.outcomes import Fault, Outcome, Refused
from app.grading.grade import Graded
from app.services.context import Context
from app.services.environment import environment
from app.storage import faults, grades, submissions
from app.storage.records import ClaimRecord, GradeRecord


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


def start(context: Context, claimed: ClaimRecord) -> Future[Outcome]:
    """Hand a claimed submission to a grader."""
    directory = context.catalogue.of_version(claimed.version_id).directory
    return context.graders.grade(directory, context.blobs.path(claimed.sha256))


def finish(context: Context, claimed: ClaimRecord, outcome: Outcome) -> Future[SubmissionState]:
    """Write what came of it; done once committed. Says the state the submission is in then.

    A fault of ours is recorded, and the submission queued again until its attempts are used up.
    """
    metric = context.catalogue.of_version(claimed.version_id).competition.metric.name
    attempts = context.settings.grading_attempts

    def record(session: Session) -> SubmissionState:
        now = datetime.now(UTC)
        match outcome:
            case Graded():
                grades.add_grade(session, _grade_record(claimed, outcome, metric, now))
                state = SubmissionState.GRADED
                verdict = Verdict(warnings=outcome.warnings)
            case Refused():
                state, verdict = SubmissionState.REJECTED, outcome.verdict
            case Fault():
                faults.add_fault(
                    session, claimed.id, claimed.attempts, outcome.kind, outcome.place, now
                )
                if claimed.attempts < attempts:
                    submissions.requeue_claim(session, claimed.id)
                    return SubmissionState.QUEUED
                state, verdict = SubmissionState.FAILED, Verdict()
        submissions.settle(
            session,
            claimed.id,
            state,
            problem=None if verdict.is_valid else problem_document(verdict),
            warnings=[warning.as_dict() for warning in verdict.warnings],
            settled_at=now,
        )
        return state

    return context.database.enqueue(record)


def _grade_record(claimed: ClaimRecord, graded: Graded, metric: str, now: datetime) -> GradeRecord:
    standing = graded.standing
    return GradeRecord(
        submission_id=claimed.id,
        version_id=claimed.version_id,
        score=graded.score,
        public_score=graded.public_score,
        better=standing.better if standing else None,
        equal=standing.equal if standing else None,
        worse=standing.worse if standing else None,
        teams=standing.teams if standing else None,
        percentile=standing.percentile if standing else None,
        above_median=standing.above_median if standing else None,
        medal=standing.medal.value if standing and standing.medal else None,
        grader={
            "metric": metric,
            "podium_version": __version__,
            "environment": environment(),
        },
        graded_at=now,
    )
