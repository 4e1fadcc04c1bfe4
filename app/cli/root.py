"""The command itself: its commands and groups, and how it reports an error in a terminal."""

from __future__ import annotations

import os
import sys
from codecs import lookup
from io import TextIOWrapper
from typing import Any, ClassVar

import typer

from app import __version__
from app.cli.lazy import LazyGroup
from app.errors import BadCompetition, PodiumError

# The commands by panel of `podium --help`: name, place in app.cli, first sentence of its help.
RUNNING = (
    ("serve", "operation.serve:serve",
     "Serve HTTP. In a new data directory, migrate, import the competitions and print a key."),
    ("worker", "operation.worker:worker",
     "Grade queued submissions. Start any number of workers on any number of machines."),
    ("demo", "demo.command:demo",
     "Serve on a new data directory, and let a small agent win a medal over HTTP."),
    ("proxy", "operation.proxy:proxy",
     "Forward to one Podium with a run's key: Kaggle's client (port 80), MLE-bench's (5000)."),
)  # fmt: skip
COMPETITIONS = (
    ("new", "folders.new:new",
     "Make a complete competition folder from a table of your own or of Kaggle, and check it."),
    ("check", "folders.check:check",
     "Check competition folders: they load, and answers that they have score perfectly."),
    ("prepare", "folders.prepare:prepare",
     "Make public and private files from raw files with a competition's own prepare.py."),
    ("readiness", "folders.readiness:readiness",
     "Say which competitions of a suite Kaggle lets you download, with sizes, room and time."),
    ("split", "folders.split:split",
     "Make private rows of a competition rows to search on, in a new folder to import."),
    ("import", "imports.commands:app", "Import competitions and results."),
    ("competitions", "competitions:app", "List, show and archive imported competitions."),
    ("grade", "folders.grade:grade",
     "Grade FILE for a competition; print JSON; exit 0 graded, 3 rejected, 1 failed."),
    ("harbor-task", "harbor.command:harbor_task",
     "Write a competition as a task of Harbor, whose verifier asks Podium to grade."),
)  # fmt: skip
RUNS = (
    ("experiments", "experiments:app", "Create, list, amend and archive experiments."),
    ("runs", "runs:app", "Create, list, close and archive runs."),
    ("reviews", "operation.reviews:app", "Look at runs with signals, and decide about them."),
    ("receipts", "receipts.commands:app", "Issue, list and save signed receipts."),
)  # fmt: skip
RESULTS = (
    ("results", "results.scores:results",
     "Print the final score and medal of each run of an experiment."),
    ("report", "results.report:report",
     "Print the medal rates of experiments, or one's success against baselines."),
    ("compare", "results.report:compare",
     "Compare two experiments, or all pairs of several, over the same competitions."),
    ("scores", "results.statistics:scores",
     "Print an experiment's percentiles or normalised scores: mean, IQM, profile and more."),
    ("pass-at-k", "results.statistics:pass_at_k",
     "Print the chance that the best of k attempts counts."),
    ("uncertainty", "results.uncertainty:uncertainty",
     "Estimate the noise of an experiment's final scores; print it with chances of medals."),
    ("sensitivity", "results.statistics:sensitivity",
     "Print a rate without each flag and each competition, and with each padding."),
    ("items", "results.statistics:items",
     "Print how well each competition of a suite separates the experiments."),
    ("curve", "results.statistics:curve",
     "Print medals over hours, tokens or dollars, and the regret of each choice."),
    ("selection", "results.selection:selection",
     "Print what the choice of final submissions cost in medals and places, and the shake-up."),
    ("plan", "results.plan:plan",
     "Print what difference so many seeds and competitions can detect."),
    ("plot", "results.plot:plot",
     "Draw a picture of results into a file, with a caption of what was counted."),
)  # fmt: skip
OPERATION = (
    ("keys", "keys:app", "Create, list and revoke keys."),
    ("db", "operation.database:app", "Migrate and check the database."),
    ("backup", "operation.backup:backup",
     "Write all rows and files of this Podium into a new folder, while it runs."),
    ("restore", "operation.backup:restore",
     "Restore a backup into an empty Podium, on either database and store."),
    ("verify", "operation.verify:verify",
     "Check a receipt, or compare stored files with their digests; exit 1 if damage is found."),
    ("regrade", "operation.regrade:regrade",
     "Grade a competition's submissions again, print the difference, and apply it (--apply)."),
    ("gc", "operation.gc:gc", "List stored files that no row names; with --delete, remove them."),
    ("faults", "operation.faults:faults",
     "List faults of gradings, latest first: why Podium could not grade a submission."),
)  # fmt: skip


class Podium(LazyGroup):
    """Prints expected errors as text; only defects of Podium show a traceback."""

    package = "app.cli"
    panels: ClassVar = {
        "Running Podium": RUNNING,
        "Competitions": COMPETITIONS,
        "Experiments and runs": RUNS,
        "Results": RESULTS,
        "Operation": OPERATION,
    }
    programs = frozenset({"proxy"})

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command; errors that have an explanation end it with status 1."""
        if sys.stdout is None or sys.stderr is None:  # a new key would be printed nowhere
            sys.exit("Standard output or error is closed: give it a file, or /dev/null.")
        _escape_what_cannot_be_written()
        try:
            return super().main(*args, **kwargs)
        except PodiumError as error:
            _report(error)
            _forget_output()
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)  # noqa: TID251
        except Exception as error:
            from app.cli.system_errors import in_words  # loads SQLAlchemy, for an error alone

            explained = in_words(error)
            if explained is None:
                raise
            _report(explained)
            _forget_output()
        sys.exit(1)


app = typer.Typer(
    cls=Podium,
    help="Podium: a grading service for AI agents that do machine-learning engineering.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"podium {__version__}")  # noqa: TID251
        raise typer.Exit


@app.callback()
def podium(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="print the version and exit"
    ),
) -> None:
    """Podium: a grading service for AI agents that do machine-learning engineering."""


def _escape_what_cannot_be_written() -> None:
    """Write characters that the output's encoding does not have as escapes."""
    if isinstance(sys.stdout, TextIOWrapper) and lookup(sys.stdout.encoding).name != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """Discard output that could not be written; otherwise Python tries again with a traceback."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _report(error: PodiumError) -> None:
    try:
        _report_in_colours(error)
    except MemoryError:  # it was used up before: no room for rich
        sys.stderr.write(f"{error.title()}\n  {ascii(error.detail)[1:-1]}\n")


def _report_in_colours(error: PodiumError) -> None:
    from app.cli.output import (  # loads rich, which a command without errors may not need
        err,
        print_note,
    )

    err.print(f"[red]{error.title()}[/red]", highlight=False)
    if not isinstance(error, BadCompetition):
        print_note(f"  {error.detail}")
        return
    for problem in error.problems:
        parts = (problem["file"], problem["key"], problem["message"])
        print_note("  " + ": ".join(part for part in parts if part))
