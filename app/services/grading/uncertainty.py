"""The noise of a submission's score: estimated by a grader at the first request, then stored.

Only researchers and admins may ask for it. It is one more number about the private answers, and no
agent needs it. So no policy shows it to a run's key, and the exposure ledger has no entry for it.
"""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy.orm import Session

from app.errors import Conflict, GradingFault, NotFound, Unavailable
from app.graders.messages.results import GraderFault, Rejected
from app.graders.version_folder import VersionFolder
from app.resampling.uncertainty import Uncertainty
from app.services.grading.send_to_grader import with_files
from app.services.runtime.context import Context
from app.services.runtime.environment import this_environment
from app.storage.database.records import GradeRecord, SubmissionRecord
from app.storage.queries import submissions
from app.storage.queries.noise import uncertainties
from app.storage.queries.noise.uncertainties import UncertaintyRecord

Estimate = Future[UncertaintyRecord]
Found = Uncertainty | Rejected | GraderFault


class NotGraded(Conflict):
    """The submission has no score, so there is no noise of it."""


@dataclass(frozen=True, slots=True)
class ScoreAndNoise:
    """A graded submission, and the noise of its score if that is known."""

    submission: SubmissionRecord
    grade: GradeRecord
    kept: UncertaintyRecord | None


def find(context: Context, submission_id: str) -> ScoreAndNoise:
    """The submission, its grade, and the noise of its score if that was asked for before.

    Raises:
        NotFound: there is no such submission.
        NotGraded: it has no grade.
    """
    with context.database.read() as session:
        found = submissions.get_submission(session, submission_id)
        if found is None:
            raise NotFound(f"There is no submission {submission_id!r}.")
        submission, grade = found
        if grade is None or grade.id is None:
            state = submission.state.value
            raise NotGraded(
                f"Submission {submission_id} is {state}: only graded ones have a score."
            )
        return ScoreAndNoise(submission, grade, uncertainties.get(session, grade.id))


def start(context: Context, found: ScoreAndNoise, by: str) -> Estimate:
    """Estimate the noise of the submission's score, and keep it. Returns without waiting.

    `by` is the id of the key that asks. One estimate is made at a time. A second request for the
    same estimate gets the same future, so do not cancel it.

    Raises:
        Unavailable: too many are waiting.
    """
    return context.uncertainties.get(
        found.submission.id, partial(_start, context, found.submission, found.grade), by
    )


def _start(context: Context, submission: SubmissionRecord, grade: GradeRecord) -> Estimate:
    end: Estimate = Future()

    def ask(version: VersionFolder, file: Path) -> Future[Uncertainty | Rejected | GraderFault]:
        return context.graders.uncertainty(version, file, submission.sha256)

    def estimated(future: Future[Found]) -> None:
        try:
            record = _record(grade, future.result())
            writing = context.database.enqueue(partial(_keep, record=record))
        except CancelledError:
            end.set_exception(Unavailable("Podium is shutting down."))
        except BaseException as error:
            end.set_exception(error)
        else:
            writing.add_done_callback(written)

    def written(future: Future[UncertaintyRecord]) -> None:
        error = future.exception()
        if error is None:
            end.set_result(future.result())
        else:
            end.set_exception(error)

    with_files(context, submission.version_id, submission.sha256, ask).add_done_callback(estimated)
    return end


def _record(grade: GradeRecord, found: Found) -> UncertaintyRecord:
    if isinstance(found, GraderFault):
        if found.kind == "not_started":
            raise Unavailable("No grader could be started; try again.")
        raise GradingFault(f"The noise could not be estimated: {found.kind} {found.place}".strip())
    if isinstance(found, Rejected) or grade.id is None:
        raise GradingFault("The file was graded, but this Podium would reject it.")
    here = this_environment()
    return UncertaintyRecord(
        grade_id=grade.id,
        **asdict(found),
        grader={"podium_version": here.podium_version, "environment": here.environment},
        estimated_at=datetime.now(UTC),
    )


def _keep(session: Session, *, record: UncertaintyRecord) -> UncertaintyRecord:
    """Store the estimate, unless another server has stored one. Returns the one that is stored."""
    uncertainties.add(session, record)
    return uncertainties.get(session, record.grade_id) or record
