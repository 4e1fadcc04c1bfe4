"""Reports of medal rates: one experiment's, and the board of all experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.reports.report import Report
from app.reports.result_context import context_columns, context_document, footnotes
from app.reports.tables import markdown_list, markdown_table
from app.services.results.experiment_results import ResultContext
from app.statistics.attempts import RATES
from app.statistics.estimates import Estimate
from app.statistics.rates import ALL, GroupRates

Rates = Mapping[str, GroupRates]
HEADINGS = {
    "low": "Low == Lite (%)", "medium": "Medium (%)", "high": "High (%)", ALL: "All (%)",
}  # fmt: skip
NOT_KNOWN = "not known"


def medal_rates_report(context: ResultContext, groups: Rates) -> Report:
    """An experiment's medal rates."""

    def markdown() -> str:
        return _rates_markdown(context, groups)

    document = _rates_document(context, groups)
    return Report(document, _rates_rows(context, groups), markdown)


def board_report(
    rows: Sequence[tuple[ResultContext, Rates]], absent: Sequence[tuple[str, str]]
) -> Report:
    """All experiments' medal rates."""
    document = {
        "items": [_rates_document(*row) for row in rows],
        "absent": [{"experiment": name, "reason": reason} for name, reason in absent],
    }

    def markdown() -> str:
        columns = list(dict.fromkeys(name for _, groups in rows for name in groups))
        table = markdown_table(
            board_header(columns),
            [board_row(context, groups, columns) for context, groups in rows],
        )
        lines = [line for context, _ in rows for line in footnotes(context)]
        lines += [f"{name} is not counted: {reason}" for name, reason in absent]
        return f"{table}\n{markdown_list(lines)}"

    flat = [line for row in rows for line in _rates_rows(*row)]
    return Report(document, flat, markdown)


def _rates_markdown(context: ResultContext, groups: Rates) -> str:
    """The row in the form of MLE-bench's README, a table of all rates, and footnotes."""
    row = markdown_table(board_header(list(groups)), [board_row(context, groups, list(groups))])
    titles = [name.replace("_", " ") for name in RATES]
    table = markdown_table(
        ["group", "competitions", *titles],
        [
            [name, group.competitions, *(plus_minus(group.rates[r]) for r in RATES)]
            for name, group in groups.items()
        ],
    )
    return f"{row}\n{table}\n{markdown_list(footnotes(context))}"


def _rates_document(context: ResultContext, groups: Mapping[str, GroupRates]) -> dict[str, Any]:
    """Medal rates for JSON."""
    shown = {
        name: {
            "competitions": group.competitions,
            "seeds": group.seeds,
            **{rate: asdict(group.rates[rate]) for rate in RATES},
        }
        for name, group in groups.items()
    }
    return {**context_document(context), "groups": shown}


def _rates_rows(context: ResultContext, groups: Mapping[str, GroupRates]) -> list[dict[str, Any]]:
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
                    "ci95_low": one.ci95[0] if one.ci95 else None,
                    "ci95_high": one.ci95[1] if one.ci95 else None,
                    "bootstrap95_low": one.bootstrap95[0] if one.bootstrap95 else None,
                    "bootstrap95_high": one.bootstrap95[1] if one.bootstrap95 else None,
                    **context_columns(context),
                }
            )
    return rows


def plus_minus(one: Estimate) -> str:
    """The mean and its SEM in the form of MLE-bench's board.

    >>> plus_minus(Estimate(62.1212, 1.5151, None, None, ()))
    '62.12 ± 1.52'
    """
    spread = "" if one.sem is None else f" ± {one.sem:.2f}"
    return f"{one.mean:.2f}{spread}"


def board_columns(groups: Sequence[str]) -> list[str]:
    """A board's groups in the order of MLE-bench's README: all of them last."""
    return [*(name for name in groups if name != ALL), ALL]


def board_header(groups: Sequence[str]) -> list[str]:
    """The heading of a board with these groups."""
    columns = [HEADINGS.get(name, f"{name} (%)") for name in board_columns(groups)]
    return ["Agent", "LLM(s) used", *columns, "Running Time (hours)", "Seeds"]


def board_row(
    context: ResultContext, groups: Mapping[str, GroupRates], columns: Sequence[str]
) -> list[str]:
    """An experiment's row: any-medal rate ± SEM in each column."""
    cells = [
        plus_minus(groups[name].rates["any_medal"]) if name in groups else NOT_KNOWN
        for name in board_columns(columns)
    ]
    hours = (context.experiment.resources or {}).get("hours")
    running_time = NOT_KNOWN if hours is None else f"{hours:g}"
    return [
        context.experiment.agent,
        context.experiment.model,
        *cells,
        running_time,
        str(len(context.grid.seeds)),
    ]
