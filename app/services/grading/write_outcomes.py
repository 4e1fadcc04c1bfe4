"""Write the outcomes of gradings: exactly one for each submission."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.domain.verdict import Verdict, problem_document
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.grading.graded import Graded
from app.grading_version import environment, grading_version
from app.storage.database import notify
from app.storage.database.records import ClaimRecord, GradeRecord, SettledRecord
from app.storage.queries import claims, grades, submissions
from app.storage.queries.operation import faults
from app.storage.queries.reviews import sketches


@dataclass(frozen=True, slots=True)
class FinishedGrading:
    """A finished grading, its outcome and its time."""

    claimed: ClaimRecord
    outcome: GradingResult
    metric: str
    at: datetime


def write_outcomes(
    session: Session, finished: list[FinishedGrading], *, max_attempts: int
) -> list[SubmissionState | None]:
    """Write grades, rejections and faults. Returns the state that each submission has then.

    A fault is recorded, and its submission queued again until its attempts are used up. The state
    is None if the outcome was dropped: another worker has claimed the submission meanwhile, or it
    is settled.
    """
    are_valid = claims.still_valid(session, [one.claimed for one in finished])
    valid = [one for one, is_valid in zip(finished, are_valid, strict=True) if is_valid]
    graded = [
        grade_record(one.claimed.id, one.claimed.version_id, one.outcome, one.metric, one.at)
        for one in valid
        if isinstance(one.outcome, Graded)
    ]
    grades.add_grades(session, graded)
    sketches.add_all(
        session,
        [
            (one.claimed.id, one.claimed.version_id, one.outcome.sketch)
            for one in valid
            if isinstance(one.outcome, Graded) and one.outcome.sketch is not None
        ],
    )
    settled: list[SettledRecord] = []
    states: list[SubmissionState | None] = []
    for one, is_valid in zip(finished, are_valid, strict=True):
        if not is_valid:
            states.append(None)
            continue
        state, verdict = _state_and_verdict(one, max_attempts)
        states.append(state)
        if isinstance(one.outcome, GraderFault):
            fault, claimed = one.outcome, one.claimed
            faults.add_fault(session, claimed.id, claimed.attempts, fault.kind, fault.place, one.at)
        if state is SubmissionState.QUEUED:
            submissions.requeue_claim(session, one.claimed.id)
        else:
            settled.append(
                SettledRecord(
                    id=one.claimed.id,
                    state=state,
                    problem=None if verdict.is_valid else problem_document(verdict),
                    warnings=[warning.as_dict() for warning in verdict.warnings],
                    settled_at=one.at,
                )
            )
    submissions.settle_all(session, settled)
    notify.publish(session, [one.id for one in settled])
    notify.publish(session, {one.claimed.run_id for one in finished})
    return states


def _state_and_verdict(
    finished: FinishedGrading, max_attempts: int
) -> tuple[SubmissionState, Verdict]:
    match finished.outcome:
        case Graded(warnings=warnings):
            return SubmissionState.GRADED, Verdict(warnings=warnings)
        case Rejected(verdict=verdict):
            return SubmissionState.REJECTED, verdict
        case GraderFault():
            is_last = finished.claimed.attempts >= max_attempts
            return SubmissionState.FAILED if is_last else SubmissionState.QUEUED, Verdict()


def grade_record(
    submission_id: str, version_id: int, graded: Graded, metric: str, at: datetime
) -> GradeRecord:
    """The grade of a submission under a competition version, by this process's environment."""
    standing = graded.standing
    return GradeRecord(
        submission_id=submission_id,
        version_id=version_id,
        score=graded.score,
        public_score=graded.public_score,
        search_score=graded.search_score,
        better=standing.better if standing else None,
        equal=standing.equal if standing else None,
        worse=standing.worse if standing else None,
        teams=standing.teams if standing else None,
        percentile=standing.percentile if standing else None,
        above_median=standing.above_median if standing else None,
        medal=standing.medal.value if standing and standing.medal else None,
        grader={
            "metric": metric,
            "podium_version": grading_version(),
            "environment": environment(),
            "decimals": standing.decimals if standing else None,
            "borderline": bool(standing and standing.borderline),
            "unrounded_medal": standing.unrounded_medal if standing else None,
        },
        graded_at=at,
    )
