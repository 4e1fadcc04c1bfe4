"""The command itself: its commands and groups, and how it reports an error in a terminal."""

from __future__ import annotations

import sys
from typing import Any

import typer

from app import __version__
from app.cli.lazy import LazyGroup
from app.errors import BadCompetition, PodiumError


class Podium(LazyGroup):
    """Prints expected errors as text; only defects of Podium show a traceback."""

    lazy = (
        ("serve", "app.cli.operation.serve:serve",
         "Serve HTTP. In a new data directory, migrate, import the competitions and print a key."),
        ("worker", "app.cli.operation.worker:worker",
         "Grade queued submissions. Start any number of workers on any number of machines."),
        ("demo", "app.cli.demo.command:demo",
         "Serve on a new data directory, and let a small agent win a medal over HTTP."),
        ("check", "app.cli.folders.check:check",
         "Check competition folders: they load, and answers that they have score perfectly."),
        ("new", "app.cli.folders.new:new",
         "Make a complete competition folder from a table of your own or of Kaggle, and check it."),
        ("prepare", "app.cli.folders.prepare:prepare",
         "Make public and private files from raw files with a competition's own prepare.py."),
        ("readiness", "app.cli.folders.readiness:readiness",
         "Say which competitions of a suite Kaggle lets you download, with sizes, room and time."),
        ("split", "app.cli.folders.split:split",
         "Make private rows of a competition rows to search on, in a new folder to import."),
        ("grade", "app.cli.folders.grade:grade",
         "Grade FILE for a competition; print JSON; exit 0 graded, 3 rejected, 1 failed."),
        ("backup", "app.cli.operation.backup:backup",
         "Write all rows and files of this Podium into a new folder, while it runs."),
        ("restore", "app.cli.operation.backup:restore",
         "Restore a backup into an empty Podium, on either database and store."),
        ("verify", "app.cli.operation.verify:verify",
         "Check a receipt, or compare stored files with their digests; exit 1 if damage is found."),
        ("regrade", "app.cli.operation.regrade:regrade",
         "Grade a competition's submissions anew, print what changes, and with --apply apply it."),
        ("gc", "app.cli.operation.gc:gc",
         "List stored files that no row names; with --delete, remove them."),
        ("proxy", "app.cli.operation.proxy:proxy",
         "Forward to one Podium with a run's key: Kaggle's client (port 80), MLE-bench's (5000)."),
        ("harbor-task", "app.cli.harbor.command:harbor_task",
         "Write a competition as a task of Harbor, whose verifier asks Podium to grade."),
        ("results", "app.cli.results.scores:results",
         "Print the final score and medal of each run of an experiment."),
        ("uncertainty", "app.cli.results.uncertainty:uncertainty",
         "Estimate the noise of an experiment's final scores; print it with chances of medals."),
        ("report", "app.cli.results.report:report",
         "Print the medal rates of experiments, or one's success against baselines."),
        ("compare", "app.cli.results.report:compare",
         "Compare two experiments, or all pairs of several, over the same competitions."),
        ("scores", "app.cli.results.statistics:scores",
         "Print an experiment's percentiles or normalised scores: mean, IQM, profile and more."),
        ("pass-at-k", "app.cli.results.statistics:pass_at_k",
         "Print the chance that the best of k attempts counts."),
        ("sensitivity", "app.cli.results.statistics:sensitivity",
         "Print a rate without each flag and each competition, and with each padding."),
        ("items", "app.cli.results.statistics:items",
         "Print how well each competition of a suite separates the experiments."),
        ("curve", "app.cli.results.statistics:curve",
         "Print medals over hours, tokens or dollars, and the regret of each choice."),
        ("selection", "app.cli.results.selection:selection",
         "Print what the choice of final submissions cost in medals and places, and the shake-up."),
        ("plan", "app.cli.results.plan:plan",
         "Print what difference so many seeds and competitions can detect."),
        ("plot", "app.cli.plot:plot",
         "Draw a picture of results into a file, with a caption of what was counted."),
        ("faults", "app.cli.operation.faults:faults",
         "List faults of gradings, latest first: why Podium could not grade a submission."),
        ("import", "app.cli.imports.commands:app", "Import competitions and results."),
        ("competitions", "app.cli.competitions:app",
         "List, show and archive imported competitions."),
        ("experiments", "app.cli.experiments:app", "Create, list and archive experiments."),
        ("keys", "app.cli.keys:app", "Create, list and revoke keys."),
        ("runs", "app.cli.runs:app", "Create, list, close and archive runs."),
        ("receipts", "app.cli.receipts.commands:app", "Issue, list and save signed receipts."),
        ("reviews", "app.cli.operation.reviews:app",
         "Look at runs with signals, and decide about them."),
        ("db", "app.cli.operation.database:app", "Migrate and check the database."),
    )  # fmt: skip
    programs = frozenset({"proxy"})

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command; errors that have an explanation end it with status 1."""
        try:
            return super().main(*args, **kwargs)
        except PodiumError as error:
            _report(error)
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)
        sys.exit(1)


app = typer.Typer(
    cls=Podium,
    help="Podium: the referee for AI agents that do machine-learning engineering.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


@app.callback()
def podium(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="print the version and exit"
    ),
) -> None:
    """Podium: the referee for AI agents that do machine-learning engineering."""


def _report(error: PodiumError) -> None:
    from app.cli.output import err  # loads rich, which a command without errors may not need

    err.print(f"[red]{error.title()}[/red]", highlight=False)
    if not isinstance(error, BadCompetition):
        err.print(f"  {error.detail}", markup=False, highlight=False)
        return
    for problem in error.problems:
        place = ": ".join(part for part in (problem["file"], problem["key"]) if part)
        err.print(f"  {place}: {problem['message']}", markup=False, highlight=False)
