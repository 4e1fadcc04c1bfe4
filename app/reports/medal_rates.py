"""Reports of medal rates: one experiment's, and the board of all experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from app.domain.result_choices import RATES, GroupBy
from app.domain.wording import counted
from app.reports.board_columns import (
    Column,
    Rates,
    Row,
    chosen_columns,
    default_columns,
    marked_of_group,
    plus_minus,
)
from app.reports.document.footnotes import footnotes, shared_notes
from app.reports.document.page import ReportPage, Table
from app.reports.document.report import NamedRows, Report, RowsOnDemand, ends
from app.reports.document.result_context import CONTEXT, context_columns, context_document
from app.reports.document.tables import QUESTIONS, interval_cell, interval_cells
from app.reports.uncertainty import noise_notes
from app.services.results.board import Board
from app.services.results.inputs.scope import ResultContext
from app.services.results.noise.experiment_noise import RateNoise
from app.statistics.estimates import Estimate
from app.statistics.rates import GroupRates

ESTIMATE = tuple(each.name for each in fields(Estimate))


def medal_rates_report(
    context: ResultContext, groups: Rates, by: GroupBy | None, noise: Sequence[RateNoise]
) -> Report:
    """An experiment's medal rates `by` group, and how many of its medals are within their noise."""

    def page() -> ReportPage:
        return _rates_page(context, groups, by, noise_notes(noise))

    document = {**_rates_document(context, groups), "noise": [asdict(one) for one in noise]}
    return Report(document, rates_rows(context, groups), page)


def board_report(
    board: Board, by: GroupBy | None, columns: Sequence[str] = (), following: str = ""
) -> Report:
    """The medal rates of several experiments over the same competitions, `by` group.

    `following` is the address of the next page, if there is one. `columns` names the columns of the
    table, or of the rows in CSV and Parquet; if empty, all.
    """
    rows = board.rows
    document = {
        "competitions": list(board.competitions),
        "items": [_rates_document(*row) for row in rows],
        "absent": [{"experiment": name, "reason": reason} for name, reason in board.absent],
        "total": board.total,
        "next_cursor": board.next_cursor,
    }

    def page() -> ReportPage:
        groups = list(dict.fromkeys(name for _, found in rows for name in found))
        example = rows[0] if rows else None
        choose = chosen_columns(columns, groups, by, example) if columns else None
        shown = default_columns(groups, by, example) if choose is None else choose
        lines = [
            f"All experiments over the same {counted(len(board.competitions), 'competition')}."
        ]
        lines += _page_note(board, following)
        lines += _column_notes(shown)
        lines += shared_notes([context for context, _ in rows])
        lines += [f"{name} is not counted: {reason}" for name, reason in board.absent]
        return ReportPage([_board_table(rows, shown)], lines)

    return Report(document, RowsOnDemand(lambda: _board_rows(board)), page, tuple(columns))


def _board_rows(board: Board) -> list[Mapping[str, Any]]:
    """The rates of each experiment; on the last page also a row without rates for each absent one.

    Its column `not_counted` says why.
    """
    rows: list[Mapping[str, Any]] = [line for row in board.rows for line in rates_rows(*row)]
    if board.next_cursor is not None:
        return rows
    if not rows and not board.absent:
        return NamedRows(RATE_ROW, [])
    names = list(rows[0]) if rows else ["experiment", "not_counted"]
    return rows + [
        dict.fromkeys(names) | {"experiment": name, "not_counted": reason}
        for name, reason in board.absent
    ]


def _page_note(board: Board, following: str) -> list[str]:
    """Which experiments these are, if they are not all."""
    shown = len(board.rows)
    if shown == board.total:
        return []
    which = f"numbers {board.before + 1} to {board.before + shown}" if shown else "none is left"
    note = f"{shown} of {counted(board.total, 'experiment')}: {which}"
    return [f"{note}; the next page: {following}" if following else f"{note}, the last page."]


def _board_table(rows: Sequence[Row], columns: Sequence[Column]) -> Table:
    return Table(
        [one.heading for one in columns],
        [[one.cell(context, groups) for one in columns] for context, groups in rows],
    )


def _column_notes(columns: Sequence[Column]) -> list[str]:
    return [note for note in dict.fromkeys(one.note for one in columns) if note]


def _rates_page(
    context: ResultContext, groups: Rates, by: GroupBy | None, more: Sequence[str]
) -> ReportPage:
    """The row in the form of MLE-bench's README, a table of all rates, and footnotes."""
    names = list(groups)
    columns = default_columns(names, by, (context, groups))
    row = _board_table([(context, groups)], columns)
    titles = [name.replace("_", " ") for name in RATES]
    table = Table(
        ["group", "competitions", *titles],
        [
            [
                name,
                group.competitions,
                *(marked_of_group(context, group, plus_minus(group.rates[r])) for r in RATES),
            ]
            for name, group in groups.items()
        ],
    )
    intervals = Table(
        ["any medal (%)", "mean", *QUESTIONS, "if all missing failed or succeeded"],
        [
            [name, *(marked_of_group(context, group, text) for text in _interval_cells(group))]
            for name, group in groups.items()
        ],
    )
    return ReportPage(
        [row, table, intervals], [*_column_notes(columns), *footnotes(context), *more]
    )


def _interval_cells(group: GroupRates) -> list[str]:
    """The share with any medal, its two intervals and its bounds."""
    one = group.rates["any_medal"]
    bounds = "nothing is missing" if one.bounds is None else interval_cell(one.bounds)
    return [f"{one.mean:.2f}", *interval_cells(one), bounds]


def _rates_document(context: ResultContext, groups: Mapping[str, GroupRates]) -> dict[str, Any]:
    """Medal rates for JSON."""
    shown = {
        name: {
            "competitions": group.competitions,
            "seeds": group.seeds,
            "missing": group.missing,
            "without_results": group.without_results,
            **{rate: _estimate(group.rates[rate]) for rate in RATES},
        }
        for name, group in groups.items()
    }
    return {**context_document(context), "groups": shown}


def _estimate(one: Estimate) -> dict[str, Any]:
    """An estimate for JSON. A board has thousands, for which `asdict` takes five times as long."""
    return {name: getattr(one, name) for name in ESTIMATE}


def rates_rows(context: ResultContext, groups: Mapping[str, GroupRates]) -> NamedRows:
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
                    "not_counted": None,
                }
            )
    return NamedRows(RATE_ROW, rows)


RATE_ROW = (
    "experiment", "agent", "model", "suite", "padding", "group", "competitions", "seeds", "rate",
    "mean", "sem", *ends("ci95", None), *ends("bootstrap95", None), "runs_sem", "runs_df",
    *ends("runs95", None), "competitions_sem", *ends("competitions95", None),
    *ends("bounds", None), "missing_in_group", *CONTEXT, "not_counted",
)  # fmt: skip
