"""`podium faults`: why gradings failed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.options import AsJson
from app.cli.output import print_json, print_note
from app.cli.tables import print_table


def faults(
    submission: Annotated[str, typer.Option(help="only this submission's faults")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="at most this many")] = 100,
    as_json: AsJson = False,
) -> None:
    """List faults of gradings, latest first: why Podium could not grade a submission."""
    from app.services.operations import faults as stored

    with podium() as context:
        found, _ = stored.page(context, submission or None, None, limit)
        if submission and not found:  # else a typo has no faults
            stored.require_submission(context, submission)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    print_table(
        ("at (UTC)", "submission", "competition", "attempt", "kind", "place"),
        [
            (f"{one.at:%Y-%m-%d %H:%M:%S}", one.submission, one.competition, one.attempt,
             one.kind, one.place)
            for one in found
        ],
        "no faults",
    )  # fmt: skip
    for note in stored.notes(found):
        print_note(note)
