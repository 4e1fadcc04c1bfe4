"""`podium results`: the score and the medal of each run of an experiment."""

from __future__ import annotations

import csv
import sys
from typing import Annotated, Any
from urllib.parse import quote

import typer

from app.cli.context import podium
from app.cli.output import AsJson, print_json
from app.cli.remote import Key, Url, remote
from app.cli.tables import moment, print_table

SHOWN = ("competition", "seed", "state", "score", "medal", "above median", "better", "improvement",
         "started", "run")  # fmt: skip


def results(
    experiment: Annotated[str, typer.Argument(help="the experiment's name")],
    archived: Annotated[bool, typer.Option("--archived", help="also archived runs")] = False,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print CSV, unrounded")] = False,
) -> None:
    """Print the final score and medal of each run of an experiment."""
    if there := remote(url, key):
        with there:
            path = f"/v1/experiments/{quote(experiment, safe='')}/outcomes"
            rows = there.get(path, archived=archived)["items"]
    else:
        # They load what statistics need, which a command with --url does not.
        from app.reports.run_outcomes import outcomes_report
        from app.services.results.run_outcomes import outcomes_of

        with podium(doing="reading results") as context:
            found = outcomes_of(context, experiment, None, archived=archived)
        rows = outcomes_report(experiment, None, found).document["items"]
    if as_json:
        print_json(rows)
        return
    if as_csv:
        writer = csv.DictWriter(sys.stdout, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return
    print_table(
        SHOWN,
        [
            (row["competition"], row["seed"], _state(row), row["score"], row["medal"],
             row["above_median"], row["better"], row["improvement"], moment(row["started_at"]),
             row["run"])
            for row in rows
        ],
        f"{experiment} has no runs",
    )  # fmt: skip


def _state(row: dict[str, Any]) -> str:
    """Why a run has no score, or the kind of its score."""
    return str(row["why"] or row["failure"] or row["sort"] or "no score")
