"""The competition report of MLE-bench: the 16 fields of its `CompetitionReport`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.domain.medals import Medal
from app.domain.states import SubmissionState
from app.importers.grading_report import THRESHOLDS, flags_of
from app.services.results.exported_report import SCORE_DIGITS
from app.services.runtime.catalogue import CatalogueEntry
from app.services.submissions.disclose import Disclosed


def report_of_submission(entry: CatalogueEntry, shown: Disclosed) -> dict[str, Any]:
    """The report of a settled submission, as a harness sees it: the same for each reading.

    A rejected file is a report whose `valid_submission` is false.
    """
    settled = shown.settled_at or shown.submission.received_at
    path = f"runs/{shown.run.id}/submissions/{shown.submission.id}"
    return _report(entry, shown.grade, True, settled, path)


def report_without_submission(entry: CatalogueEntry) -> dict[str, Any]:
    """The report of a run that made no submission: medal lines, and nothing else."""
    return _report(entry, None, False, datetime.now(UTC), None)


def flags_of_submission(shown: Disclosed) -> dict[str, bool]:
    """The seven flags of a submission, with MLE-bench's names."""
    is_valid = shown.submission.state is SubmissionState.GRADED
    grade = shown.grade or {}
    medal = Medal(grade["medal"]) if grade.get("medal") else None
    return flags_of(True, is_valid, medal, bool(grade.get("above_median")))


def _report(
    entry: CatalogueEntry, grade: dict[str, Any] | None, made: bool, at: datetime, path: str | None
) -> dict[str, Any]:
    board, metric = entry.leaderboard, entry.competition.metric
    medal = Medal(grade["medal"]) if grade and grade["medal"] else None
    return {
        "competition_id": entry.version.slug,
        "score": round(grade["score"], SCORE_DIGITS) if grade else None,
        **{f"{name}_threshold": getattr(board.lines, name) if board else None
           for name in THRESHOLDS},
        **flags_of(made, grade is not None, medal, bool(grade and grade["above_median"])),
        "is_lower_better": not metric.higher_is_better,
        "created_at": at.astimezone(UTC).replace(tzinfo=None).isoformat(),
        "submission_path": path,
    }  # fmt: skip
