"""`podium check`: check competition folders."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.options import AsJson

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|PATH]...",
        help="names of competitions, or paths of folders; default: the competitions directory",
    ),
]


def check(names: Names = None, as_json: AsJson = False) -> None:
    """Check competition folders: they load, and answers that they have score perfectly.

    A name is the name of a folder in the competitions directory, of a folder that comes with
    Podium, or of a folder in the current directory.
    """
    from app.cli.folders.check_folders import check_folders

    check_folders(names or [], as_json=as_json)
