"""The report of medals over run time, tokens or dollars."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from app.domain.wording import are
from app.reports.document.footnotes import footnotes, marked
from app.reports.document.page import Marked, ReportPage, Table
from app.reports.document.report import Report, ends
from app.reports.document.result_context import context_columns, context_document
from app.reports.document.tables import interval_cell
from app.services.results.inputs.scope import ResultContext
from app.services.results.medals_over_time import Curves
from app.statistics.medals_over_time import Point

BANDS = ("any_medal_runs95", "any_medal_competitions95", "gold_runs95", "gold_competitions95")


def curves_report(name: str, found: Curves) -> Report:
    """Medals over time, and the regret."""
    document = _document(name, found)
    scope = found.context.filters
    rows = []
    for choice, points in found.points.items():
        for point in points:
            flat = asdict(point)
            for band in BANDS:
                flat |= ends(band, flat.pop(band))
            rows.append(
                {
                    "experiment": name, "axis": found.axis.value, "choice": choice.value, **flat,
                    "suite": scope.suite, "padding": scope.padding.value, "runs": found.runs,
                    "left_out": found.left_out, **context_columns(found.context),
                }
            )  # fmt: skip

    def page() -> ReportPage:
        moments = [point.at for point in next(iter(found.points.values()))]
        table = Table(
            [found.axis.value, *(choice.value for choice in found.points)],
            [
                [f"{at:g}", *(_cell(found, points[n]) for points in found.points.values())]
                for n, at in enumerate(moments)
            ],
        )
        lines = [
            (
                "Any medal (%), in brackets the 95 % band of each moment by itself: for these "
                "competitions, run again, or where one has a single run, for competitions like "
                "these."
            )
        ]
        lines += [
            f"{choice.value}: {cost.regret:.2f} points below the oracle at the end; 95 %, these "
            f"competitions, run again: {interval_cell(cost.runs95)}; competitions like these: "
            f"{interval_cell(cost.competitions95)}."
            for choice, cost in found.regret.items()
        ]
        if found.left_out:
            left_out = are(found.left_out, "run")
            lines.append(f"{left_out} left out, with no {found.axis} reported.")
        lines += _reasons(found.context)
        return ReportPage([table], [*lines, *footnotes(found.context)])

    return Report(document, rows, page)


def _reasons(context: ResultContext) -> list[str]:
    """A line with the reasons why results are missing; none if nothing is missing."""
    if not context.missing:
        return []
    counts = Counter(reason for _, _, reason in context.missing)
    line = "; ".join(f"{count} × {reason}" for reason, count in counts.most_common())
    lines = [f"Why results are missing: {line}."]
    if len(context.missing) == len(context.grid.competitions) * context.grid.all_seeds:
        lines.append("Every result is missing, so nothing here is measured.")
    return lines


def _document(name: str, found: Curves) -> dict[str, Any]:
    """The curves for JSON, then the context, as in other answers."""
    own = {
        "experiment": name,
        "axis": found.axis,
        "padding": found.padding,
        "runs": found.runs,
        "seeds": found.seeds,
        "left_out": found.left_out,
        "missing": [asdict(one) for one in found.missing],
        "points": {
            choice: [asdict(at) for at in points] for choice, points in found.points.items()
        },
        "regret": {choice: asdict(cost) for choice, cost in found.regret.items()},
    }
    return own | {key: v for key, v in context_document(found.context).items() if key not in own}


def _cell(found: Curves, point: Point) -> str | Marked:
    band = point.any_medal_runs95 or point.any_medal_competitions95
    text = f"{point.any_medal:.2f}" + (f" ({interval_cell(band)})" if band else "")
    return marked(text, len(found.missing), found.padding)
