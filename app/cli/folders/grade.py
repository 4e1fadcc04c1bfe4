"""`podium grade`: grade one file without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, regular

HELP = "the name of a competition, or the path of its folder"


def grade(
    competition: Annotated[str, typer.Argument(help=HELP)],
    file: Annotated[
        Path,
        typer.Argument(help="the submission", exists=True, dir_okay=False, callback=regular),
    ],
    as_json: AsJson = True,
) -> None:
    """Grade FILE for a competition; print JSON; exit 0 graded, 3 rejected, 1 failed.

    A name is that of an imported competition or else of a folder: in the competitions directory,
    among those that come with Podium, or in the current directory. A folder needs no import.
    """
    from app.graders.template import GraderTemplate

    with GraderTemplate().launch() as template:
        # Both processes load their modules at the same time.
        from app.cli.folders.print_grade import print_grade

        print_grade(template, competition, file)
