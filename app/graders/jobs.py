"""The jobs that graders do on one submission file."""

from __future__ import annotations

from pathlib import Path

from app.domain.form import SubmissionForm
from app.domain.verdict import Rejection, Verdict
from app.graders.versions import LoadedForm, LoadedVersion
from app.grading.check import check, read_ids
from app.grading.grade import Graded, grade


def warm_up() -> None:
    """Do once what is slow the first time: reading and checking a CSV file."""
    form = SubmissionForm.model_validate({"id": "id", "columns": {"x": {"kind": "number"}}})
    data = b"id,x\na,1.5\nb,2\n"
    check(data, form, read_ids(data, form))


def grade_job(loaded: LoadedVersion, file: Path) -> Graded:
    """Grade one submission file.

    Raises:
        Rejection: the file's fault.
        MetricFault: the metric failed.
    """
    return grade(
        file.read_bytes(), loaded.competition, loaded.answers, loaded.leaderboard, loaded.scorer
    )


def validate_job(loaded: LoadedForm, file: Path) -> Verdict:
    """Check one submission file's form. No answers are in reach."""
    try:
        return Verdict(warnings=loaded.checker.check(file.read_bytes()).warnings)
    except Rejection as rejection:
        return rejection.verdict
