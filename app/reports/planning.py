"""The report of a plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.reports.document.footnotes import marks_of, shared_notes
from app.reports.document.page import ReportPage, Table
from app.reports.document.report import Report
from app.reports.document.result_context import context_columns, context_document
from app.services.results.planning import SeedPlan
from app.statistics.planning import MOST_DIFFERENCE


def plan_report(found: SeedPlan) -> Report:
    """The detectable differences of each size."""
    document = {
        "rate": found.rate, "power": found.power, **asdict(found.spread),
        "basis": [context_document(one) for one in found.basis],
        "sizes": [asdict(one) for one in found.sizes],
    }  # fmt: skip
    rows = []
    for one in found.sizes:
        row = asdict(one)
        # New columns are at the end.
        last = {name: row.pop(name) for name in ("these_too_few", "like_these_too_few")}
        spread = asdict(found.spread)
        rows.append(
            {**row, "rate": found.rate, "power": found.power, **spread, **last, **_of(found)}
        )

    def points(value: float | None, *, too_few: bool = False) -> str:
        if too_few:
            return f"more than {MOST_DIFFERENCE:g}"
        return "not known" if value is None else f"{value:.2f}"

    def page() -> ReportPage:
        mark = marks_of(*found.basis)
        table = Table(
            ["competitions", "seeds", "detectable: these competitions, run again",
             "detectable: competitions like these", "share of runs in the error (%)"],
            [[one.competitions, one.seeds,
              mark(points(one.these_competitions, too_few=one.these_too_few)),
              mark(points(one.competitions_like_these, too_few=one.like_these_too_few)),
              mark(points(one.share_of_runs))]
             for one in found.sizes],
        )  # fmt: skip
        spread, chance = found.spread, f"{100 * found.power:g} %"
        notes = [
            f"Differences in points, found by a t test at 5 % with a chance of {chance}.",
            f"Spread over competitions {spread.between:.2f}, of an attempt {spread.within:.2f}.",
            "Where the share of runs is large, more seeds help; otherwise only competitions do.",
        ]
        if any(one.these_too_few or one.like_these_too_few for one in found.sizes):
            notes.append(
                "More than 100: no difference of two rates is so large, so such a size finds none."
            )
        return ReportPage([table], [*notes, *shared_notes(found.basis)])

    return Report(document, rows, page)


def _of(found: SeedPlan) -> dict[str, Any]:
    """The two experiments from which the spreads are, as columns; none for stated spreads."""
    columns: dict[str, Any] = {}
    for name, one in zip(("a", "b"), found.basis, strict=False):
        columns |= {name: one.experiment.name, "suite": one.filters.suite,
                    "padding": one.filters.padding.value}  # fmt: skip
        columns |= {f"{name}_{key}": value for key, value in context_columns(one).items()}
    return columns
