"""The command itself: what it is called, its groups, and how an error is told in a terminal."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from app import __version__
from app.cli import (
    backup,
    competitions,
    database,
    demo,
    grade,
    imports,
    keys,
    prepare,
    proxy,
    results,
    runs,
    serve,
    success,
    worker,
)
from app.cli.output import err
from app.errors import BadCompetition, PodiumError


class PodiumCommand(TyperGroup):
    """Says what went wrong in words, and leaves tracebacks to real faults."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command; errors that have an explanation end it with status 1."""
        try:
            return super().main(*args, **kwargs)
        except BadCompetition as error:
            err.print(f"[red]{error.title()}[/red]", highlight=False)
            for problem in error.problems:
                place = ": ".join(part for part in (problem["file"], problem["key"]) if part)
                err.print(f"  {place}: {problem['message']}", markup=False, highlight=False)
        except PodiumError as error:
            err.print(f"[red]{error.title()}[/red]", highlight=False)
            err.print(f"  {error.detail}", markup=False, highlight=False)
        except KeyboardInterrupt:
            err.print("stopped")
        sys.exit(1)


app = typer.Typer(
    cls=PodiumCommand,
    help="Podium: the referee for AI agents that do machine-learning engineering.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


@app.callback()
def podium(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True),
) -> None:
    """Podium: the referee for AI agents that do machine-learning engineering."""


app.command("serve")(serve.serve)
app.command("worker")(worker.worker)
app.command("demo")(demo.demo)
app.command("check")(competitions.check)
app.command("prepare")(prepare.prepare)
app.command("grade")(grade.grade)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("proxy")(proxy.proxy)
app.command("report")(results.report)
imports.app.command("grading-report")(results.import_grading_report)
imports.app.command("run-groups")(results.import_run_groups)
imports.app.command("mlagentbench-results")(success.import_mlagentbench_results)
app.add_typer(imports.app, name="import", help="Bring competitions and results in.")
app.add_typer(competitions.app, name="competitions", help="Look at competitions.")
app.add_typer(keys.app, name="keys", help="Create, list and revoke keys.")
app.add_typer(runs.app, name="runs", help="Set up runs.")
app.add_typer(database.app, name="db", help="Migrate and check the database.")
