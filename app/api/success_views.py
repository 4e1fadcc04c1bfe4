"""Success rates, run outcomes and trajectories in the four forms they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fastapi import Request

from app.api.tables import answer, markdown_table
from app.reports import success_rates as report
from app.services.results.run_outcomes import RunOutcome
from app.services.results.success_rates import SuccessResults
from app.services.results.trajectory import Trajectory


def success_rates(request: Request, found: SuccessResults) -> Any:
    """An experiment's success rates."""
    return answer(
        request,
        report.success_document(found),
        report.success_rows(found),
        lambda: success_markdown(found),
    )


def success_markdown(found: SuccessResults) -> str:
    """A line for each group, and what one has to know."""
    table = markdown_table(report.SUCCESS_HEADER, report.success_cells(found))
    notes = "".join(f"- {line}\n" for line in report.success_footnotes(found))
    return f"{table}\n{notes}"


def outcomes(
    request: Request, name: str, threshold: float | None, found: Sequence[RunOutcome]
) -> Any:
    """What each run of an experiment came to."""
    rows = [report.outcome_row(one) for one in found]
    document = {"experiment": name, "threshold": threshold, "items": rows}
    shown = ("competition", "seed", "standing", "sort", "score", "best_score", "improvement",
             "success", "ever_success", "failure")  # fmt: skip
    return answer(
        request,
        document,
        [{"experiment": name, **row} for row in rows],
        lambda: markdown_table(shown, [[_cell(row[key]) for key in shown] for row in rows]),
    )


def trajectory(request: Request, found: Trajectory) -> Any:
    """A run's scores in their order."""
    run, baseline = found.run, found.competition.baseline
    steps = [asdict(one) for one in found.steps]
    final, first = found.final, found.first_success
    is_told = baseline is not None and not found.pending
    document = {
        "run": run.id,
        "experiment": run.experiment,
        "competition": run.competition,
        "seed": run.seed,
        "higher_is_better": found.competition.metric.higher_is_better,
        "baseline": baseline.score if baseline else None,
        "threshold": found.threshold,
        "sort": found.sort,
        "pending": found.pending or None,
        "final": asdict(final) if final else None,
        "best": asdict(found.best) if found.best else None,
        "success": final is not None and bool(final.success) if is_told else None,
        "ever_success": first is not None if baseline else None,
        "first_success": asdict(first) if first else None,
        "items": steps,
    }
    shown = ("sort", "step", "run_seconds", "score", "best_so_far", "improvement", "success",
             "final")  # fmt: skip
    return answer(
        request,
        document,
        [{"run": run.id, **step} for step in steps],
        lambda: markdown_table(shown, [[_cell(step[key]) for key in shown] for step in steps]),
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
