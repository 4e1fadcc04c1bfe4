"""The report of a plan."""

from __future__ import annotations

from dataclasses import asdict

from app.reports.document.page import Page, Table
from app.reports.report import Report
from app.reports.result_context import context_document, footnotes
from app.services.results.planning import Plan


def plan_report(found: Plan) -> Report:
    """The detectable differences of each size."""
    document = {
        "rate": found.rate, "power": found.power, **asdict(found.spread),
        "basis": [context_document(one) for one in found.basis],
        "sizes": [asdict(one) for one in found.sizes],
    }  # fmt: skip
    rows = [
        {**asdict(one), "rate": found.rate, "power": found.power, **asdict(found.spread)}
        for one in found.sizes
    ]

    def points(value: float | None) -> str:
        return "not known" if value is None else f"{value:.2f}"

    def page() -> Page:
        table = Table(
            ["competitions", "seeds", "detectable: these competitions, run again",
             "detectable: competitions like these", "share of runs in the error (%)"],
            [[one.competitions, one.seeds, points(one.these_competitions),
              points(one.competitions_like_these), points(one.share_of_runs)]
             for one in found.sizes],
        )  # fmt: skip
        spread, chance = found.spread, f"{100 * found.power:g} %"
        notes = [
            f"Differences in points, found by a t test at 5 % with a chance of {chance}.",
            f"Spread over competitions {spread.between:.2f}, of an attempt {spread.within:.2f}.",
            "Where the share of runs is large, more seeds help; otherwise only competitions do.",
        ]
        for one in found.basis:
            notes += footnotes(one)
        return Page([table], notes)

    return Report(document, rows, page)
