"""`podium runs`: create and close many runs."""

from __future__ import annotations

import csv
import sys
from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.output import AsJson, print_json
from app.domain.feedback import Feedback
from app.domain.states import Failure
from app.errors import Invalid
from app.services.experiments import runs
from app.services.experiments.runs import NewRun

app = typer.Typer(help="Create and close runs.", no_args_is_help=True)


@app.command()
def create(
    experiment: Annotated[str, typer.Option(help="the experiment's name")],
    suite: Annotated[str, typer.Option(help="a run for each competition of this suite")] = "",
    competition: Annotated[
        list[str], typer.Option(help="a run for this competition; may be repeated")
    ] = [],  # noqa: B006
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="runs of each, seeds 0 to N-1")] = 1,
    feedback: Annotated[
        Feedback, typer.Option(help="the feedback policy of the runs")
    ] = Feedback.VALIDITY,
    as_json: AsJson = False,
) -> None:
    """Make runs and print their ids and keys as CSV. Keys are shown only once."""
    if bool(suite) == bool(competition):
        raise Invalid("Name a suite (--suite) or competitions (--competition), not both.")
    made = []
    with podium() as context:
        slugs = context.catalogue.suite(suite) if suite else tuple(competition)
        for slug in slugs:
            for seed in range(seeds):
                new = NewRun(experiment, slug, seed, feedback, {})
                run, key = runs.create(context, new)
                made.append({"run": run.id, "competition": slug, "seed": seed, "key": key})
    if as_json:
        print_json(made)
        return
    writer = csv.DictWriter(sys.stdout, ["run", "competition", "seed", "key"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)


@app.command()
def close(
    experiment: Annotated[str, typer.Option(help="the experiment's name")],
    failure: Annotated[
        Failure | None, typer.Option(help="the reason why runs without a submission have none")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Close all open runs of an experiment. A run without a submission counts as 'none made'."""
    with podium() as context:
        closed = runs.close_all(context, experiment, failure)
    if as_json:
        print_json({"closed": closed})
    else:
        typer.echo(f"{len(closed)} runs closed")
