"""The report of what the choice of final submissions cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.domain.wording import counted
from app.reports.document.footnotes import footnotes, marks_of
from app.reports.document.page import Marked, ReportPage, Table
from app.reports.document.report import Report, ends
from app.reports.document.result_context import context_columns, context_document
from app.reports.document.tables import QUESTIONS, interval_cells
from app.services.results.choice.selection import ChoiceCosts
from app.statistics.selection import Difference, Share


def selection_report(found: ChoiceCosts) -> Report:
    """The regret of each choice in medals and percentiles, and the shake-up."""
    context, shaken = found.context, found.shake_up
    document = {
        **context_document(context),
        "percentile_convention": found.convention,
        "runs": found.runs,
        "with_choice": found.with_choice,
        "placed_competitions": found.placed,
        "unplaced": found.unplaced,
        "choices": [asdict(one) for one in found.costs],
        "shake_up": None if shaken is None else asdict(shaken),
    }
    rows = []
    for cost in found.costs:
        rows.append(_row(found, cost.choice, "medal_regret", cost.medals))
        if cost.percentiles is not None:
            rows.append(_row(found, cost.choice, "percentile_regret", cost.percentiles))
    if shaken is not None:
        rows.append(_row(found, None, "shake_up", shaken.shake_up))
        rows.append(_row(found, None, "best_kept", shaken.best_kept))

    def page() -> ReportPage:
        mark = marks_of(context)
        lines: list[list[str | Marked]] = []
        for cost in found.costs:
            lines.append([cost.choice, "any medal (%)", *map(mark, _cells(cost.medals))])
            if cost.percentiles is not None:
                what: str | Marked = "percentile"
                if found.unplaced:
                    what = Marked("percentile", (
                        (f"over {counted(found.placed, 'competition')}; places of submissions are "
                        f"not known at {', '.join(found.unplaced)}"),
                    ))  # fmt: skip
                lines.append([cost.choice, what, *map(mark, _cells(cost.percentiles))])
        tables = [
            Table(
                ["choice", "", "chosen", "best possible", "regret", *QUESTIONS],
                lines,
            )
        ]
        has = "has" if found.with_choice == 1 else "have"
        runs = counted(found.runs, "run")
        notes = [
            (
                f"{found.with_choice} of {runs} {has} two or more valid submissions; "
                "the others have no regret."
            ),
        ]
        if found.unplaced and not found.placed:
            notes.append("Percentiles: only medal lines of the leaderboards are here.")
        if shaken is None:
            notes.append("Shake-up: no run has two submissions with a public score.")
        else:
            tables.append(
                Table(
                    ["within runs", "mean (%)", *QUESTIONS],
                    [["shake-up", *map(mark, _shares(shaken.shake_up))],
                     ["the best by public score is the best",
                      *map(mark, _shares(shaken.best_kept))]],
                )
            )  # fmt: skip
            notes.append(
                f"Shake-up: the mean change of rank from public to private score, as a share of a "
                f"run's files; over {counted(shaken.runs, 'run')} at "
                f"{counted(shaken.competitions, 'competition')}. "
                f"Left out: {counted(shaken.left_out, 'run')} with fewer than two public scores."
            )
        return ReportPage(tables, [*notes, *footnotes(context)])

    return Report(document, rows, page)


def _cells(one: Difference) -> list[str]:
    return [f"{one.choice:.2f}", f"{one.oracle:.2f}", f"{one.regret:.2f}", *interval_cells(one)]


def _shares(one: Share) -> list[str]:
    return [f"{one.value:.2f}", *interval_cells(one)]


def _row(
    found: ChoiceCosts, choice: str | None, statistic: str, one: Difference | Share
) -> dict[str, Any]:
    if isinstance(one, Difference):
        chosen, oracle, value = one.choice, one.oracle, one.regret
    else:
        chosen, oracle, value = None, None, one.value
    return {
        "experiment": found.context.experiment.name,
        "suite": found.context.filters.suite,
        "padding": found.context.filters.padding.value,
        "statistic": statistic,
        "choice": None if choice is None else str(choice),
        "chosen": chosen,
        "oracle": oracle,
        "value": value,
        **ends("runs95", one.runs95),
        **ends("competitions95", one.competitions95),
        "runs": found.runs,
        "with_choice": found.with_choice,
        "unplaced": ",".join(found.unplaced),
        **context_columns(found.context),
    }
