"""The report of medals over run time, tokens or dollars."""

from __future__ import annotations

from dataclasses import asdict

from app.reports.document.page import Page, Table
from app.reports.medal_rates import ends
from app.reports.report import Report
from app.reports.result_context import EFFECTS
from app.reports.tables import interval_cell
from app.services.results.medals_over_time import Curves
from app.statistics.medals_over_time import Point

BANDS = ("any_medal_runs95", "any_medal_competitions95", "gold_runs95", "gold_competitions95")


def curves_report(name: str, found: Curves) -> Report:
    """Medals over time, and the regret."""
    document = {"experiment": name, **asdict(found)}
    rows = []
    for choice, points in found.points.items():
        for point in points:
            flat = asdict(point)
            for band in BANDS:
                flat |= ends(band, flat.pop(band))
            rows.append(
                {"experiment": name, "axis": found.axis.value, "choice": choice.value, **flat}
            )

    def page() -> Page:
        moments = [point.at for point in next(iter(found.points.values()))]
        table = Table(
            [found.axis.value, *(choice.value for choice in found.points)],
            [
                [f"{at:g}", *(_with_band(points[n]) for points in found.points.values())]
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
        if found.missing:
            lines.append(
                f"{len(found.missing)} missing results {EFFECTS[found.padding.value]} "
                f"(padding={found.padding})."
            )
        if found.left_out:
            lines.append(f"{found.left_out} runs are left out: they reported no {found.axis}.")
        return Page([table], lines)

    return Report(document, rows, page)


def _with_band(point: Point) -> str:
    band = point.any_medal_runs95 or point.any_medal_competitions95
    return f"{point.any_medal:.2f}" + (f" ({interval_cell(band)})" if band else "")
