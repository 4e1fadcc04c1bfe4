"""The report of medals over run time, tokens or dollars."""

from __future__ import annotations

from dataclasses import asdict

from app.reports.report import Report
from app.reports.result_context import EFFECTS
from app.reports.tables import markdown_list, markdown_table
from app.services.results.medals_over_time import Curves


def curves_report(name: str, found: Curves) -> Report:
    """Medals over time, and the regret."""
    document = {"experiment": name, **asdict(found)}
    rows = [
        {"experiment": name, "axis": found.axis.value, "choice": choice.value, **asdict(point)}
        for choice, points in found.points.items()
        for point in points
    ]

    def markdown() -> str:
        moments = [point.at for point in next(iter(found.points.values()))]
        table = markdown_table(
            [found.axis.value, *(choice.value for choice in found.points)],
            [
                [f"{at:g}", *(f"{points[n].any_medal:.2f}" for points in found.points.values())]
                for n, at in enumerate(moments)
            ],
        )
        lines = [
            f"{choice.value}: {cost.regret:.2f} points below the oracle at the end."
            for choice, cost in found.regret.items()
        ]
        if found.missing:
            lines.append(
                f"{len(found.missing)} missing results {EFFECTS[found.padding.value]} "
                f"(padding={found.padding})."
            )
        if found.left_out:
            lines.append(f"{found.left_out} runs are left out: they reported no {found.axis}.")
        return f"{table}\n{markdown_list(lines)}"

    return Report(document, rows, markdown)
