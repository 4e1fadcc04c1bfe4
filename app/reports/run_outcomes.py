"""Reports of runs: the outcomes of an experiment's runs, and the scores of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from app.reports.document.page import ReportPage, Table
from app.reports.document.report import NamedRows, Report, RowsOnDemand
from app.reports.document.tables import cell
from app.services.results.inputs.attempts import EXCLUDED
from app.services.results.run_outcomes import RunOutcome
from app.services.results.trajectory import Step, Trajectory
from app.statistics.efficiency import COSTS

OUTCOME = (
    "competition", "seed", "run", "standing", "why", "failure", "sort", "score", "medal",
    "above_median", "better", "best_score", "scores", "uncounted_beside", "baseline", "threshold",
    "improvement", "success", "best_improvement", "ever_success", *COSTS, "created_at",
    "started_at", "closed_at",
)  # fmt: skip


def outcomes_report(name: str, threshold: float | None, found: Sequence[RunOutcome]) -> Report:
    """The outcome of each run of an experiment."""
    rows = [_outcome_row(one) for one in found]
    document = {"experiment": name, "threshold": threshold, "items": rows}
    shown = ("competition", "seed", "standing", "sort", "score", "medal", "best_score",
             "improvement", "success", "ever_success", "failure")  # fmt: skip
    return Report(
        document,
        RowsOnDemand(
            lambda: NamedRows(
                ("experiment", *OUTCOME), [{"experiment": name, **row} for row in rows]
            )
        ),
        lambda: ReportPage([Table(shown, [[cell(row[key]) for key in shown] for row in rows])], []),
    )


def trajectory_report(found: Trajectory) -> Report:
    """The scores of a run, in their order."""
    run, baseline = found.run, found.competition.baseline
    steps = [asdict(one) for one in found.steps]
    final, first = found.final, found.first_success
    is_final = baseline is not None and not found.pending
    document = {
        "run": run.id,
        "experiment": run.experiment,
        "competition": run.competition,
        "seed": run.seed,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "higher_is_better": found.competition.metric.higher_is_better,
        "baseline": baseline.score if baseline else None,
        "threshold": found.threshold,
        "sort": found.kind,
        "pending": found.pending or None,
        "final": asdict(final) if final else None,
        "best": asdict(found.best) if found.best else None,
        "success": final is not None and bool(final.success) if is_final else None,
        "ever_success": first is not None if baseline else None,
        "first_success": asdict(first) if first else None,
        "items": steps,
    }
    shown = ("sort", "step", "run_seconds", "score", "best_so_far", "improvement", "success",
             "final")  # fmt: skip
    return Report(
        document,
        NamedRows(
            ("run", *(each.name for each in fields(Step))),
            [{"run": run.id, **step} for step in steps],
        ),
        lambda: ReportPage(
            [Table(shown, [[cell(step[key]) for key in shown] for step in steps])], []
        ),
    )


def _outcome_row(one: RunOutcome) -> dict[str, Any]:
    """A run's outcome as one flat row."""
    return {
        "competition": one.competition,
        "seed": one.seed,
        "run": one.run,
        "standing": one.status.value,
        "why": one.reason or None,
        "failure": one.failure,
        "sort": one.kind,
        "score": one.score,
        "medal": one.medal,
        "above_median": one.above_median,
        "better": one.better,
        "best_score": one.best_score,
        "scores": one.scores,
        "uncounted_beside": one.other_scores,
        "baseline": one.baseline.score if one.baseline else None,
        "threshold": one.threshold,
        "improvement": one.improvement,
        "success": one.success if one.baseline and not one.reason else None,
        "best_improvement": one.best_improvement,
        "ever_success": one.ever if one.baseline and one.reason != EXCLUDED else None,
        **{cost: getattr(one.usage, cost) for cost in COSTS},
        "created_at": one.created_at,
        "started_at": one.started_at,
        "closed_at": one.closed_at,
    }
