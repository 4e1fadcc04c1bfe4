"""The report of an experiment's scores on a scale that competitions share."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.domain.wording import counted
from app.reports.document.footnotes import EFFECTS, footnotes, marked, shared_notes
from app.reports.document.page import ReportPage, Table
from app.reports.document.report import Report, ends
from app.reports.document.result_context import context_columns, context_document
from app.reports.document.tables import QUESTIONS, interval_cells
from app.services.results.inputs.scope import ResultContext
from app.services.results.scores.score_summaries import ScoredExperiment
from app.statistics.percentiles import PERCENTILE, PERCENTILES, SCALES
from app.statistics.scores.score_estimates import ProfilePoint, ScoreEstimate

NAMES = {
    "mean": "mean",
    "median": "median of the competitions' means",
    "iqm": "interquartile mean",
    "optimality_gap": "optimality gap",
}


def scores_report(found: ScoredExperiment) -> Report:
    """Summaries of the scores, the performance profile, and the other experiment if any."""
    summary, context = found.summary, found.context
    scale, digits = SCALES[found.scale], 2 if found.scale == PERCENTILE else 4
    convention = PERCENTILES[found.convention] if found.convention else None
    other = found.against.experiment.name if found.against else None
    estimates = {name: getattr(summary, name) for name in NAMES}
    document = {
        **context_document(context),
        "scale": found.scale,
        "scale_source": scale.source,
        "percentile_convention": found.convention,
        "percentile_source": convention.source if convention else None,
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
        _row(found, name, None, one.value, one) for name, one in shown.items()
    ]
    rows += [_row(found, "profile", point.above, point.share, point) for point in summary.profile]

    def page() -> ReportPage:
        padding = context.filters.padding
        gaps = _gaps(found, context)
        both = gaps + (_gaps(found, found.against) if found.against else 0)
        titles = {
            **NAMES, "mean": f"mean {found.scale}",
            "probability_better": f"P(better than {other}) (%)",
        }  # fmt: skip
        table = Table(
            ["", "value", *QUESTIONS],
            [[titles[name],
              *(marked(text, both if name == "probability_better" else gaps, padding)
                for text in (f"{one.value:.{digits}f}", *interval_cells(one, digits)))]
             for name, one in shown.items()],
        )  # fmt: skip
        profile = Table(
            [f"{found.scale} above", "share of attempts (%)", *QUESTIONS],
            [[f"{point.above:g}",
              *(marked(text, gaps, padding)
                for text in (f"{point.share:.2f}", *interval_cells(point)))]
             for point in summary.profile],
        )  # fmt: skip
        notes = [
            f"Percentiles: {found.convention} ({convention.source}); 0 without a valid submission."
            if convention
            else f"{found.scale} ({scale.source}): {scale.formula}.",
            f"Optimality gap: how far attempts fall short of {found.target:g}, on average.",
        ]
        if found.unplaced:
            has = "has" if len(found.unplaced) == 1 else "have"
            notes.append(
                f"{counted(len(found.unplaced), 'attempt')} that {has} no {found.scale} "
                f"{EFFECTS[context.filters.padding.value]} (padding={context.filters.padding})."
            )
        notes += shared_notes([context, found.against]) if found.against else footnotes(context)
        return ReportPage([table, profile], notes)

    return Report(document, rows, page)


def _gaps(found: ScoredExperiment, context: ResultContext) -> int:
    """The attempts of an experiment that have no result, or no score on the scale."""
    name = context.experiment.name
    return len(context.missing) + sum(one.experiment == name for one in found.unplaced)


def _row(
    found: ScoredExperiment,
    name: str,
    above: float | None,
    value: float,
    estimate: ScoreEstimate | ProfilePoint,
) -> dict[str, Any]:
    return {
        "experiment": found.context.experiment.name,
        "against": found.against.experiment.name if found.against else None,
        "suite": found.context.filters.suite,
        "padding": found.context.filters.padding.value,
        "percentile": found.convention,
        "statistic": name,
        "above": above,
        "value": value,
        **ends("runs95", estimate.runs95),
        **ends("competitions95", estimate.competitions95),
        "unplaced": len(found.unplaced),
        **context_columns(found.context),
        "scale": found.scale,
    }
