"""`podium results`: the score and the medal of each run of an experiment."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.cli.context import podium
from app.cli.options import AsJson, Key, Url
from app.cli.remote import path_to, remote
from app.cli.results.options import Csv, Experiment, FormOption, Out
from app.cli.tables import moment, print_table
from app.domain.states import Failure

SHOWN = ("competition", "seed", "state", "score", "medal", "above median", "better", "improvement",
         "started", "run")  # fmt: skip


def results(
    experiment: Experiment,
    archived: Annotated[bool, typer.Option("--archived", help="also archived runs")] = False,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
    csv: Csv = False,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print the final score and medal of each run of an experiment."""
    if there := remote(url, key):
        with there:
            path = path_to("experiments", experiment, "outcomes")
            rows = there.get(path, archived=archived)["items"]
    else:
        # Imported here: they load statistics, which a command with --url does not need.
        from app.reports.run_outcomes import outcomes_report
        from app.services.results.run_outcomes import outcomes_of

        with podium(doing="reading results") as context:
            found = outcomes_of(context, experiment, None, archived=archived)
        rows = outcomes_report(experiment, None, found).document["items"]
    if as_json or csv or form or to:
        from app.cli.results.forms import print_report
        from app.reports.document.page import ReportPage, Table
        from app.reports.document.report import NamedRows, Report
        from app.reports.document.tables import cell

        def cells(row: dict[str, Any]) -> list[str]:
            return [cell(value) for value in _row(row)]

        shown = rows
        if not rows:
            from app.reports.run_outcomes import OUTCOME

            shown = NamedRows(OUTCOME, [])
        report = Report(rows, shown, lambda: ReportPage([Table(SHOWN, [*map(cells, rows)])], []))
        print_report(report, form=form, to=to, as_json=as_json, csv=csv)
        return
    print_table(SHOWN, [_row(one) for one in rows], f"{experiment} has no runs")


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["competition"], row["seed"], _state(row), row["score"], row["medal"],
        row["above_median"], row["better"], row["improvement"], moment(row["started_at"]),
        row["run"],
    )  # fmt: skip


def _state(row: dict[str, Any]) -> str:
    """The reason why a run has no score, or the kind of its score."""
    failure = None if row["failure"] == Failure.NONE else row["failure"]
    return str(row["why"] or failure or row["sort"] or "no score")
