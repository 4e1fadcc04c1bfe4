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
        ("serve", "app.cli.serve:serve",
         "Serve HTTP. In a new data directory, migrate, import the competitions and print a key."),
        ("worker", "app.cli.worker:worker",
         "Grade queued submissions. Start any number of workers on any number of machines."),
        ("demo", "app.cli.demo.command:demo",
         "Serve on a new data directory, and let a small agent win a medal over HTTP."),
        ("check", "app.cli.check:check",
         "Check competition folders: they load, and answers that they have score perfectly."),
        ("prepare", "app.cli.prepare:prepare",
         "Make public and private files from raw files with a competition's own prepare.py."),
        ("grade", "app.cli.grade:grade",
         "Grade FILE for a competition; print JSON; exit 0 graded, 3 rejected, 1 failed."),
        ("backup", "app.cli.backup:backup",
         "Write all rows and files of this Podium into a new folder, while it runs."),
        ("restore", "app.cli.backup:restore",
         "Restore a backup into an empty Podium, on either database and store."),
        ("proxy", "app.cli.proxy:proxy",
         "Forward to one Podium with a run's key: Kaggle's client (port 80), MLE-bench's (5000)."),
        ("report", "app.cli.results.report:report",
         "Print an experiment's medal rates, or its success against baselines, as Markdown."),
        ("faults", "app.cli.faults:faults",
         "List faults of gradings, latest first: why Podium could not grade a submission."),
        ("import", "app.cli.imports.commands:app", "Import competitions and results."),
        ("competitions", "app.cli.competitions:app", "List and show imported competitions."),
        ("keys", "app.cli.keys:app", "Create, list and revoke keys."),
        ("runs", "app.cli.runs:app", "Create and close runs."),
        ("db", "app.cli.database:app", "Migrate and check the database."),
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
