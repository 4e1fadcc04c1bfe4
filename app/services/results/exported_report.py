"""Export the attempts of an experiment as MLE-bench's grading reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.medals import Medal
from app.errors import NotFound
from app.importers.grading_report import THRESHOLDS, TOTALS, flags_of
from app.services.experiments import experiments
from app.services.results.inputs.attempts import attempt_of_run
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt
from app.storage.queries import results
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from app.storage.queries.regrades.counted_runs import RunResult

SCORE_DIGITS = 5  # MLE-bench rounds scores to 5 decimal places; only its reports have them so


def export_report(context: Context, experiment: str, seed: int) -> dict[str, Any]:
    """The experiment's attempts of one seed, as a grading report of MLE-bench.

    Scores are rounded as in MLE-bench if that leads to the same medal. Pending runs and results at
    archived competitions are left out.

    Raises:
        NotFound: the experiment does not exist, or has no result of this seed.
    """
    experiments.find(context, experiment)
    with context.database.read() as session:
        own = results.imported_results(session, experiments=[experiment])
        shown = {one.competition for one in own}
        imported = [
            one
            for one in imported_grades.of_experiment(session, experiment, seed)
            if one.competition in shown
        ]
        runs = list(results.run_results(session, experiments=[experiment]))
    entries = [_imported_entry(each) for each in imported]
    for run in sorted(runs, key=lambda each: each.competition):
        attempt = attempt_of_run(run)
        if run.seed == seed and isinstance(attempt, Attempt):
            entries.append(_run_entry(context, run, attempt))
    if not entries:
        raise NotFound(f"The experiment {experiment!r} has no results of seed {seed}.")
    totals = {name: sum(_counts(name, entry) for entry in entries) for name in TOTALS}
    return {**totals, "competition_reports": entries}


def _imported_entry(one: ImportedGradeRecord) -> dict[str, Any]:
    medal = None if one.medal is None else Medal(one.medal)
    lines = {name: one.document.get(f"{name}_threshold") for name in THRESHOLDS}
    lower = one.document.get("is_lower_better")
    board = None
    if lower is not None and all(isinstance(value, int | float) for value in lines.values()):
        board = Leaderboard.from_lines(MedalLines(**lines), teams=None, higher_is_better=not lower)
    score = None if one.score is None else exported_score(one.score, board, medal, one.above_median)
    expected = flags_of(one.made, one.valid, medal, one.above_median)
    return {**one.document, "score": score, **expected}


def exported_score(
    score: float, board: Leaderboard | None, medal: Medal | None, above_median: bool
) -> float:
    """The score for a report: rounded as in MLE-bench if that leads to the same medal.

    Otherwise it is the score as it was compared with the board, or the unrounded score, so that a
    comparison with the thresholds of the report gives the medal of the report.
    """
    rounded = round(score, SCORE_DIGITS)
    if board is None:
        return rounded
    plain = Leaderboard.from_lines(board.lines, teams=None, higher_is_better=board.higher_is_better)
    for candidate in (rounded, board.compared(score)):
        found = plain.standing(candidate)
        if found.medal is medal and bool(found.above_median) is above_median:
            return candidate
    return score


def _run_entry(context: Context, run: RunResult, attempt: Attempt) -> dict[str, Any]:
    found = context.catalogue.of_version(run.version_id)
    board = found.leaderboard
    score = run.score if attempt.valid else None
    lines = {
        f"{name}_threshold": getattr(board.lines, name) if board else None for name in THRESHOLDS
    }
    return {
        "competition_id": run.competition,
        "score": None
        if score is None
        else exported_score(score, board, attempt.medal, attempt.above_median),
        **lines,
        **flags_of(attempt.made, attempt.valid, attempt.medal, attempt.above_median),
        "is_lower_better": not found.competition.metric.higher_is_better,
        "created_at": datetime.now(UTC).replace(tzinfo=None).isoformat(),
        "submission_path": f"runs/{run.run}/submissions/{run.final}" if run.final else None,
    }


def _counts(total: str, entry: dict[str, Any]) -> bool:
    field = {
        "total_runs_with_submissions": "submission_exists",
        "total_valid_submissions": "valid_submission",
        "total_medals": "any_medal",
        "total_gold_medals": "gold_medal",
        "total_silver_medals": "silver_medal",
        "total_bronze_medals": "bronze_medal",
        "total_above_median": "above_median",
    }.get(total)
    return True if field is None else bool(entry[field])
