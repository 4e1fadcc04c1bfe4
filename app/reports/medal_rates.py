"""Reports of medal rates: one experiment's, and the board of all experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.reports.document.page import Marked, Page, Table
from app.reports.report import Report
from app.reports.result_context import (
    EFFECTS,
    context_columns,
    context_document,
    footnotes,
    shared_notes,
)
from app.reports.tables import interval_cell
from app.reports.uncertainty import noise_notes
from app.services.results.board import Board
from app.services.results.noise.experiment_noise import RateNoise
from app.services.results.scope import ResultContext
from app.statistics.attempts import RATES
from app.statistics.estimates import Estimate, Interval
from app.statistics.rates import ALL, GroupRates

Rates = Mapping[str, GroupRates]
HEADINGS = {
    "low": "Low == Lite (%)", "medium": "Medium (%)", "high": "High (%)", ALL: "All (%)",
}  # fmt: skip
NOT_KNOWN = "not known"
CELLS = (
    "Cells: any medal, mean ± SEM over the totals of the seeds (ddof = 1), "
    "as in MLE-bench's README."
)


def medal_rates_report(context: ResultContext, groups: Rates, noise: Sequence[RateNoise]) -> Report:
    """An experiment's medal rates, and how many of its medals are within their noise."""

    def page() -> Page:
        return _rates_page(context, groups, noise_notes(noise))

    document = {**_rates_document(context, groups), "noise": [asdict(one) for one in noise]}
    return Report(document, rates_rows(context, groups), page)


def board_report(board: Board) -> Report:
    """The medal rates of several experiments over the same competitions."""
    rows = board.rows
    document = {
        "competitions": list(board.competitions),
        "items": [_rates_document(*row) for row in rows],
        "absent": [{"experiment": name, "reason": reason} for name, reason in board.absent],
        "next_cursor": board.next_cursor,
    }

    def page() -> Page:
        columns = list(dict.fromkeys(name for _, groups in rows for name in groups))
        table = Table(
            board_header(columns, rows[0] if rows else None),
            [board_row(context, groups, columns) for context, groups in rows],
        )
        lines = [f"All experiments over the same {len(board.competitions)} competitions. {CELLS}"]
        lines += shared_notes([context for context, _ in rows])
        lines += [f"{name} is not counted: {reason}" for name, reason in board.absent]
        return Page([table], lines)

    flat = [line for row in rows for line in rates_rows(*row)]
    return Report(document, flat, page)


def _rates_page(context: ResultContext, groups: Rates, more: Sequence[str]) -> Page:
    """The row in the form of MLE-bench's README, a table of all rates, and footnotes."""
    names = list(groups)
    row = Table(board_header(names, (context, groups)), [board_row(context, groups, names)])
    titles = [name.replace("_", " ") for name in RATES]
    table = Table(
        ["group", "competitions", *titles],
        [
            [name, group.competitions, *(plus_minus(group.rates[r]) for r in RATES)]
            for name, group in groups.items()
        ],
    )
    medals = {name: group.rates["any_medal"] for name, group in groups.items()}
    intervals = Table(
        ["any medal (%)", "mean", "these competitions, run again: 95 %",
         "competitions like these: 95 %", "if all missing failed or succeeded"],
        [
            [name, f"{one.mean:.2f}", interval_cell(one.runs95),
             interval_cell(one.competitions95),
             "nothing is missing" if one.bounds is None else interval_cell(one.bounds)]
            for name, one in medals.items()
        ],
    )  # fmt: skip
    return Page([row, table, intervals], [CELLS, *footnotes(context), *more])


def _rates_document(context: ResultContext, groups: Mapping[str, GroupRates]) -> dict[str, Any]:
    """Medal rates for JSON."""
    shown = {
        name: {
            "competitions": group.competitions,
            "seeds": group.seeds,
            "missing": group.missing,
            "without_results": group.without_results,
            **{rate: asdict(group.rates[rate]) for rate in RATES},
        }
        for name, group in groups.items()
    }
    return {**context_document(context), "groups": shown}


def rates_rows(context: ResultContext, groups: Mapping[str, GroupRates]) -> list[dict[str, Any]]:
    """Medal rates as flat rows: one for each group and rate."""
    rows = []
    for name, group in groups.items():
        for rate in RATES:
            one = group.rates[rate]
            rows.append(
                {
                    "experiment": context.experiment.name,
                    "agent": context.experiment.agent,
                    "model": context.experiment.model,
                    "suite": context.filters.suite,
                    "padding": context.filters.padding.value,
                    "group": name,
                    "competitions": group.competitions,
                    "seeds": group.seeds,
                    "rate": rate,
                    "mean": one.mean,
                    "sem": one.sem,
                    **ends("ci95", one.ci95),
                    **ends("bootstrap95", one.bootstrap95),
                    "runs_sem": one.runs_sem,
                    "runs_df": one.runs_df,
                    **ends("runs95", one.runs95),
                    "competitions_sem": one.competitions_sem,
                    **ends("competitions95", one.competitions95),
                    **ends("bounds", one.bounds),
                    "missing_in_group": group.missing,
                    **context_columns(context),
                }
            )
    return rows


def ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    """An interval as two columns.

    >>> ends("ci95", (1.0, 2.0))
    {'ci95_low': 1.0, 'ci95_high': 2.0}
    """
    low, high = interval or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def plus_minus(one: Estimate) -> str:
    """The mean and its SEM in the form of MLE-bench's board.

    >>> plus_minus(Estimate(62.1212, 1.5151, None, None, ()))
    '62.12 ± 1.52'
    """
    spread = "" if one.sem is None else f" ± {one.sem:.2f}"
    return f"{one.mean:.2f}{spread}"


def _cell(context: ResultContext, group: GroupRates | None) -> str | Marked:
    """The any-medal rate, with a footnote where results are missing."""
    if group is None:
        return NOT_KNOWN
    rate = plus_minus(group.rates["any_medal"])
    if not group.missing:
        return rate
    padding = context.filters.padding.value
    what = f"{group.missing} missing results {EFFECTS[padding]} (padding={padding})"
    if group.without_results == group.competitions:
        return Marked(rate, (f"no result at any of these competitions: {what}",))
    return Marked(rate, (what,))


def board_columns(groups: Sequence[str]) -> list[str]:
    """A board's groups in the order of MLE-bench's README: all of them last."""
    return [*(name for name in groups if name != ALL), ALL]


def board_header(
    groups: Sequence[str], example: tuple[ResultContext, Rates] | None
) -> list[str | Marked]:
    """The heading of a board with these groups; those with flagged competitions are marked.

    `example` is one of its experiments: all have the same competitions.
    """
    columns = [_heading(name, example) for name in board_columns(groups)]
    return ["Agent", "LLM(s) used", *columns, "Running Time (hours)", "Seeds"]


def _heading(name: str, example: tuple[ResultContext, Rates] | None) -> str | Marked:
    text = HEADINGS.get(name, f"{name} (%)")
    context, group = (None, None) if example is None else (example[0], example[1].get(name))
    if context is None or group is None:
        return text
    members = set(group.members)
    codes = sorted({code for slug, code, _ in context.flags if slug in members})
    return Marked(text, (f"with flagged competitions: {', '.join(codes)}",)) if codes else text


def board_row(context: ResultContext, groups: Rates, columns: Sequence[str]) -> list[str | Marked]:
    """An experiment's row: any-medal rate ± SEM, marked where results are missing."""
    cells = [_cell(context, groups.get(name)) for name in board_columns(columns)]
    hours = (context.experiment.resources or {}).get("hours")
    running_time = NOT_KNOWN if hours is None else f"{hours:g}"
    return [
        context.experiment.agent,
        context.experiment.model,
        *cells,
        running_time,
        str(len(context.grid.seeds)),
    ]
