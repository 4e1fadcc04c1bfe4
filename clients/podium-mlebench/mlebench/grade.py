"""Grade files: one, or those that a JSONL file lists."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from mlebench.grade_helpers import CompetitionReport, InvalidSubmissionError
from mlebench.podium import from_environment
from mlebench.registry import Competition, registry
from mlebench.utils import get_logger, get_timestamp, purple, read_jsonl

logger = get_logger(__name__)
TOTALS = {
    "total_runs_with_submissions": "submission_exists",
    "total_valid_submissions": "valid_submission",
    "total_medals": "any_medal",
    "total_gold_medals": "gold_medal",
    "total_silver_medals": "silver_medal",
    "total_bronze_medals": "bronze_medal",
    "total_above_median": "above_median",
}


def grade_csv(path_to_submission: Path, competition: Competition) -> CompetitionReport:
    """The report of a file. Without a file, it says so, and has the medal lines.

    Raises:
        PodiumError: Podium did not grade.
    """
    path = Path(path_to_submission)
    if path.is_file() and path.suffix.lower() == ".csv":
        report = from_environment().grade(competition.id, path)
        if not report["valid_submission"]:
            try:
                competition.grader.grade_file(path)
            except InvalidSubmissionError as error:
                logger.warning("Invalid submission: %s", error)
    else:
        logger.warning("Invalid submission file: %s. It has to exist and end in .csv.", path)
        report = from_environment().lines(competition.id)
    report = {
        **report,
        "created_at": datetime.now().isoformat(),  # noqa: DTZ005 (as the original)
        "submission_path": str(path_to_submission),
    }
    return CompetitionReport.from_dict(report)


def validate_submission(submission: Path, competition: Competition) -> tuple[bool, str]:
    """Whether a file is a valid submission, and a sentence about it. It is not graded.

    Raises:
        PodiumError: Podium did not check it.
    """
    path = Path(submission)
    if not path.is_file():
        return False, f"Submission invalid! Submission file {path} does not exist."
    if path.suffix.lower() != ".csv":
        return False, "Submission invalid! Submission file must be a CSV file."
    verdict = from_environment().validate(competition.id, path)
    if verdict["valid"]:
        return True, "Submission is valid."
    return False, "Submission invalid! " + "; ".join(
        one["message"] for one in verdict["violations"]
    )


def grade_jsonl(path_to_submissions: Path, output_dir: Path) -> None:
    """Grade the files that a JSONL file lists, and write `<time>_grading_report.json`.

    Each line has `competition_id` and `submission_path`.

    Raises:
        PodiumError: Podium did not grade; no report is written.
        ValueError, OSError: the list or the folder cannot be used. No file was graded.
    """
    lines = read_jsonl(str(path_to_submissions), skip_commented_out_lines=True)
    for number, line in enumerate(lines, 1):
        for name in ("competition_id", "submission_path"):
            if not isinstance(line, dict) or name not in line:
                raise ValueError(f"{path_to_submissions}: document {number} has no {name}.")
    output_dir = Path(output_dir)
    output_dir.mkdir(parents=True, exist_ok=True)
    reports = []
    for line in lines:
        competition = registry.get_competition(line["competition_id"])
        reports.append(grade_csv(Path(str(line["submission_path"])), competition))
    document = aggregate_reports(reports)
    logger.info(json.dumps({k: v for k, v in document.items() if k in TOTALS}, indent=4))
    file = output_dir / f"{get_timestamp()}_grading_report.json"
    file.write_text(json.dumps(document, indent=2))
    logger.info(purple(f"Saved summary report to {file}"))


def aggregate_reports(reports: list[CompetitionReport]) -> dict[str, Any]:
    """The reports with their totals, as MLE-bench writes them."""
    documents = [report.to_dict() for report in reports]
    totals = {name: sum(one[flag] for one in documents) for name, flag in TOTALS.items()}
    return {"total_runs": len(documents), **totals, "competition_reports": documents}
