"""`podium prepare`: from raw files to a folder that can be imported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, out, print_json, working
from app.read_settings import read_settings
from app.services.competitions.check_competition import folders_in
from app.services.competitions.prepare import prepare as prepare_one

Slugs = Annotated[list[str], typer.Argument(help="competitions that have a prepare.py")]
Raw = Annotated[
    Path,
    typer.Option(
        help="directory with SLUG/ or SLUG.zip; for a single competition also its files themselves",
        exists=True,
        file_okay=False,
    ),
]


def prepare(
    slugs: Slugs,
    raw: Raw,
    grading_only: Annotated[
        bool,
        typer.Option(
            "--grading-only", help="leave out images and the like, which only agents need"
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make public and private files from raw files with a competition's own prepare.py.

    The result is in the data directory, below `prepared`. This command imports nothing.
    """
    settings = read_settings()
    done = []
    folders = folders_in(settings.competitions_dir, slugs)
    for folder in folders:
        with working(f"{folder.name}: preparing"):
            made = prepare_one(
                folder, raw, settings.data_dir, alone=len(folders) == 1, grading_only=grading_only
            )
        done.append({"slug": folder.name, "folder": made})
        if not as_json:
            line = f"{folder.name}: prepared. To import it: podium import folder {made}"
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print_json(done)
