"""The report of an experiment's percentiles."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.reports.document.page import Page, Table
from app.reports.report import Report
from app.reports.result_context import EFFECTS, context_columns, context_document, footnotes
from app.reports.tables import interval_cell
from app.services.results.score_summaries import Scored
from app.statistics.percentiles import PERCENTILES
from app.statistics.score_summaries import ScoreEstimate

NAMES = {
    "mean": "mean percentile",
    "median": "median of the competitions' means",
    "iqm": "interquartile mean",
    "optimality_gap": "optimality gap",
}


def scores_report(found: Scored) -> Report:
    """Summaries of the percentiles, the performance profile, and the other experiment if any."""
    summary, context = found.summary, found.context
    other = found.against.experiment.name if found.against else None
    estimates = {name: getattr(summary, name) for name in NAMES}
    document = {
        **context_document(context),
        "percentile_convention": found.convention,
        "percentile_source": PERCENTILES[found.convention].source,
        "target": found.target,
        "attempts": summary.attempts,
        "unplaced": [asdict(each) for each in found.unplaced],
        **{name: asdict(one) for name, one in estimates.items()},
        "mean_bootstrap95": summary.mean_bootstrap95,
        "profile": [asdict(point) for point in summary.profile],
        "against": None if found.against is None else context_document(found.against),
        "probability_better": None if found.better is None else asdict(found.better),
    }
    shown: dict[str, ScoreEstimate] = dict(estimates)
    if found.better is not None:
        shown["probability_better"] = found.better
    rows: list[dict[str, Any]] = [
        _row(found, name, None, one.value, one.runs95) for name, one in shown.items()
    ]
    rows += [
        _row(found, "profile", point.above, point.share, point.runs95) for point in summary.profile
    ]

    def page() -> Page:
        titles = {**NAMES, "probability_better": f"P(better than {other}) (%)"}
        table = Table(
            ["", "value", "these competitions, run again: 95 %"],
            [[titles[name], f"{one.value:.2f}", interval_cell(one.runs95)]
             for name, one in shown.items()],
        )  # fmt: skip
        profile = Table(
            ["percentile above", "share of attempts (%)", "95 %"],
            [[f"{point.above:g}", f"{point.share:.2f}", interval_cell(point.runs95)]
             for point in summary.profile],
        )  # fmt: skip
        like_these = interval_cell(summary.mean_bootstrap95)
        source = PERCENTILES[found.convention].source
        notes = [
            f"Percentiles: {found.convention} ({source}); 0 without a valid submission.",
            f"Mean for competitions like these, 95 %: {like_these}.",
            f"Optimality gap: how far attempts fall short of {found.target:g}, on average.",
        ]
        if found.unplaced:
            notes.append(
                f"{len(found.unplaced)} attempts whose place is not known "
                f"{EFFECTS[context.filters.padding.value]} (padding={context.filters.padding})."
            )
        notes += footnotes(context)
        if found.against is not None:
            notes += footnotes(found.against)
        return Page([table, profile], notes)

    return Report(document, rows, page)


def _row(
    found: Scored,
    name: str,
    above: float | None,
    value: float,
    interval: tuple[float, float] | None,
) -> dict[str, Any]:
    low, high = interval or (None, None)
    return {
        "experiment": found.context.experiment.name,
        "against": found.against.experiment.name if found.against else None,
        "suite": found.context.filters.suite,
        "padding": found.context.filters.padding.value,
        "percentile": found.convention,
        "statistic": name,
        "above": above,
        "value": value,
        "runs95_low": low,
        "runs95_high": high,
        "unplaced": len(found.unplaced),
        **context_columns(found.context),
    }
