"""`podium regrade`: grade a competition's submissions anew, print the difference, apply it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.cli.context import podium
from app.cli.operation.regrade_output import print_difference, print_verification
from app.cli.operation.regrade_work import work
from app.cli.output import AsJson, print_json
from app.domain.states import RegradeState
from app.errors import Invalid
from app.services.runtime.context import Context


def regrade(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="the competition")],
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            min=1,
            metavar="VERSION",
            help="grade all of them under this version; without: each under its run's version",
        ),
    ] = None,
    submission: Annotated[
        str, typer.Option(metavar="ID", help="only this submission; it cannot be applied")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="print the difference, and cancel the regrade then")
    ] = False,
    applies: Annotated[
        bool, typer.Option("--apply", help="let results rest on it; needs --reason")
    ] = False,
    reason: Annotated[str, typer.Option(help="why it is applied, for whoever looks later")] = "",
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="same versions: compare each grade with the first one to the last bit; exit 1 "
            "if any differs",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Grade a competition's submissions anew, print what changes, and with --apply apply it.

    Nothing changes before it is applied, and no grade is ever changed: results rest on the new
    grades from then on. An interrupted regrade goes on when the command is given again.

    The running server grades, or workers if the queue is used; without a server, this command.
    """
    if applies and (dry_run or verify or submission):
        raise Invalid("--apply goes with neither --dry-run, --verify nor --submission.")
    if applies and not reason.strip():
        raise Invalid("--apply needs --reason: why results are to rest on other grades.")
    if reason and not applies:
        raise Invalid("--reason is for --apply.")
    if verify and to is not None:
        raise Invalid("--verify grades under the versions of the first grades: without --to.")
    with podium(grades=True) as context:
        regrade_id, is_new = _started(context, slug, to, submission or None)
        work(context, regrade_id)
        document, is_good = _done(context, regrade_id, verify=verify)
        if applies:
            from app.services.regrades.apply import apply

            apply(context, regrade_id, reason=reason, by=None)
        elif is_new and (dry_run or verify):
            from app.services.regrades.start import cancel

            cancel(context, regrade_id, reason="verified" if verify else "dry run", by=None)
    if as_json:
        print_json(document)
    elif verify:
        print_verification(document)
    else:
        print_difference(document)
        if applies:
            typer.echo(f"applied: results of {slug} rest on {regrade_id}")
        elif not dry_run and not submission:
            again = f"podium regrade {slug}" + (f" --to {to}" if to else "")
            typer.echo(f"not applied; to apply it: {again} --apply --reason TEXT")
    if verify and not is_good:
        raise typer.Exit(1)


def _started(
    context: Context, slug: str, to: int | None, submission: str | None
) -> tuple[str, bool]:
    """The regrade to work at, and whether it is new.

    One that is running or ready is taken if it asks for the same.
    """
    from app.services.regrades import show
    from app.services.regrades.start import start
    from app.services.runtime.environment import this_environment

    own = this_environment()
    cursor: str | None = None
    while True:
        found, cursor = show.page(context, slug, cursor, 1000)
        for one in found:
            record = one.record
            is_open = record.state in (RegradeState.RUNNING, RegradeState.READY)
            same = (one.version, record.submission_id) == (to, submission)
            here = (record.podium_version, record.environment) == (
                own.podium_version, own.environment
            )  # fmt: skip
            if is_open and same and here and not one.missing:
                return record.id, False
        if cursor is None:
            made = start(context, slug, version=to, submission=submission, by=None)
            return made.id, True


def _done(context: Context, regrade_id: str, *, verify: bool) -> tuple[dict[str, Any], bool]:
    """The regrade with all of its changes, and whether nothing changed."""
    from app.reports.regrades import regrade_details
    from app.services.regrades.verification import verification

    document = regrade_details(context, regrade_id, None, LISTED)
    if not verify:
        return document, True
    found = verification(context, regrade_id)
    return {**document, "verification": found}, found["different"] == 0


LISTED = 1000  # submissions that differ; the others are at /v1/regrades/ID
