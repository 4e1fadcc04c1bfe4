"""The outcome that a regrade stores for a submission: a grade, a rejection or a fault."""

from __future__ import annotations

from datetime import UTC, datetime

from app.domain.states import SubmissionState
from app.domain.verdict import problem_document
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.grading.graded import Graded
from app.services.grading.write_outcomes import grade_record
from app.storage.queries.regrades.outcomes import ClaimedRegrading, OutcomeRecord


def outcome_record(claimed: ClaimedRegrading, outcome: GradingResult, metric: str) -> OutcomeRecord:
    """The outcome of a submission's regrading, as it is stored: a grade, a rejection or a fault."""
    now = datetime.now(UTC)
    match outcome:
        case Graded():
            grade = grade_record(claimed.id, claimed.version_id, outcome, metric, now)
            return OutcomeRecord(
                state=SubmissionState.GRADED,
                score=grade.score,
                public_score=grade.public_score,
                search_score=grade.search_score,
                better=grade.better,
                equal=grade.equal,
                worse=grade.worse,
                teams=grade.teams,
                percentile=grade.percentile,
                above_median=grade.above_median,
                medal=grade.medal,
                grader=grade.grader,
                warnings=[one.as_dict() for one in outcome.warnings],
                graded_at=now,
            )
        case Rejected(verdict=verdict):
            return OutcomeRecord(
                state=SubmissionState.REJECTED,
                problem=problem_document(verdict),
                warnings=[one.as_dict() for one in verdict.warnings],
                graded_at=now,
            )
        case GraderFault():
            return OutcomeRecord(
                state=SubmissionState.FAILED,
                fault=outcome.kind,
                place=outcome.place,
                graded_at=now,
            )
