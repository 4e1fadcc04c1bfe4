"""What came of gradings, written: exactly one outcome for each submission."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.domain.verdict import Verdict, problem_document
from app.graders.environment import environment
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.grading.graded import Graded
from app.grading_version import grading_version
from app.storage.database import notify
from app.storage.database.records import ClaimRecord, GradeRecord, SettledRecord
from app.storage.queries import claims, faults, grades, submissions


@dataclass(frozen=True, slots=True)
class FinishedGrading:
    """A grading that came to its end, and when."""

    claimed: ClaimRecord
    outcome: GradingResult
    metric: str
    at: datetime


def write_outcomes(
    session: Session, finished: list[FinishedGrading], *, max_attempts: int
) -> list[SubmissionState | None]:
    """Write the outcomes of gradings: grades, rejections, faults. Says the states they lead to.

    A fault of ours is recorded, and the submission queued again until its attempts are used up.
    None stands for an outcome that was dropped: its submission is in other hands by now, because
    this worker was taken for dead, or is settled.
    """
    holds = claims.still_held(session, [one.claimed for one in finished])
    held = [one for one, holding in zip(finished, holds, strict=True) if holding]
    graded = [_grade_record(one) for one in held if isinstance(one.outcome, Graded)]
    grades.add_grades(session, graded)
    settled: list[SettledRecord] = []
    states: list[SubmissionState | None] = []
    for one, holding in zip(finished, holds, strict=True):
        if not holding:
            states.append(None)
            continue
        state, verdict = _judge(one, max_attempts)
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


def _judge(finished: FinishedGrading, max_attempts: int) -> tuple[SubmissionState, Verdict]:
    match finished.outcome:
        case Graded(warnings=warnings):
            return SubmissionState.GRADED, Verdict(warnings=warnings)
        case Rejected(verdict=verdict):
            return SubmissionState.REJECTED, verdict
        case GraderFault():
            is_last = finished.claimed.attempts >= max_attempts
            return SubmissionState.FAILED if is_last else SubmissionState.QUEUED, Verdict()


def _grade_record(finished: FinishedGrading) -> GradeRecord:
    claimed, graded = finished.claimed, finished.outcome
    assert isinstance(graded, Graded)  # noqa: S101 (the caller chose these)
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
            "metric": finished.metric,
            "podium_version": grading_version(),
            "environment": environment(),
        },
        graded_at=finished.at,
    )
