"""The report of all attempts at one competition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from app.reports.document.page import ReportPage, Table
from app.reports.document.report import NamedRows, Report
from app.reports.document.tables import cell
from app.services.results.competition_results import CompetitionResult
from app.services.results.inputs.competition_info import CompetitionInfo
from app.statistics.percentiles import PERCENTILES


def competition_report(
    slug: str,
    convention: str,
    info: CompetitionInfo,
    results: Sequence[CompetitionResult],
) -> Report:
    """All attempts at a competition."""
    rows = [asdict(line) for line in results]
    document = {
        "competition": slug,
        "complexity": info.complexity,
        "flags": [{"competition": slug, "code": code, "note": note} for code, note in info.flags],
        "percentile_convention": convention,
        "percentile_source": PERCENTILES[convention].source,
        "items": rows,
    }

    def page() -> ReportPage:
        table = Table(
            ["experiment", "seed", "score", "medal", "percentile", "improvement", "state",
             "reported"],
            [
                [one.experiment, one.seed, cell(one.score), one.medal or "",
                 cell(one.percentile), cell(one.improvement), one.state,
                 f"{cell(one.reported_score)} {one.reported_sort or ''}".strip()]
                for one in results
            ],
        )  # fmt: skip
        return ReportPage([table], [f"{code}: {note}" for code, note in info.flags])

    columns = [each.name for each in fields(CompetitionResult)]
    return Report(document, NamedRows(columns, rows), page)
