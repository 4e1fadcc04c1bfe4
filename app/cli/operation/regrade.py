"""`podium regrade`: grade a competition's submissions again, print the difference, apply it."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.options import AsJson
from app.cli.output import print_json, print_line
from app.errors import Invalid


def regrade(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="the competition")],
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            min=1,
            max=2**31 - 1,
            metavar="VERSION",
            help="grade all of them under this version; default: each under its run's version",
        ),
    ] = None,
    submission: Annotated[
        str, typer.Option(metavar="ID", help="only this submission; it cannot be applied")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="print the difference, then cancel the regrade")
    ] = False,
    applies: Annotated[
        bool, typer.Option("--apply", help="let results rest on it; needs --reason")
    ] = False,
    reason: Annotated[str, typer.Option(help="why it is applied, for later readers")] = "",
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
    """Grade a competition's submissions again, print the difference, and apply it (--apply).

    Results change only when it is applied, and no grade is ever changed: from then on results use
    the new grades. To continue an interrupted regrade, run the same command again.

    The running server grades, or workers if the queue is used; without a server, this command.
    """
    if applies and (dry_run or verify or submission):
        raise Invalid("--apply goes with neither --dry-run, --verify nor --submission.")
    if applies and not reason.strip():
        raise Invalid("--apply needs --reason: why results should use other grades.")
    if reason and not applies:
        raise Invalid("--reason is for --apply.")
    if verify and to is not None:
        raise Invalid("--verify grades under the versions of the first grades: without --to.")
    from app.cli.operation.regrade_output import print_difference, print_verification
    from app.cli.operation.regrade_work import RegradeRequest, regrade_now

    wanted = RegradeRequest(slug, to, submission or None, verify=verify, dry_run=dry_run)
    made = regrade_now(wanted, reason if applies else None)
    document = made.document
    if as_json:
        print_json(document)
    elif verify:
        print_verification(document)
    else:
        print_difference(document)
        if applies:
            print_line(f"applied: results of {slug} rest on {document['id']}")
        elif not dry_run and not submission:
            again = f"podium regrade {slug}" + (f" --to {to}" if to else "")
            print_line(f"not applied; to apply it: {again} --apply --reason TEXT")
    if verify and not made.is_equal:
        raise typer.Exit(1)
