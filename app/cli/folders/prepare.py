"""`podium prepare`: from raw files to a folder that can be imported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson

Slugs = Annotated[list[str] | None, typer.Argument(help="competitions")]
RawFolder = Annotated[
    Path | None,
    typer.Option(
        "--raw",
        help="directory with SLUG/ or SLUG.zip; for a single competition also its files themselves",
        exists=True,
        file_okay=False,
    ),
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from", help="what MLE-bench or MLE-Dojo prepared: its data directory",
        exists=True, file_okay=False,
    ),
]  # fmt: skip


def prepare(
    slugs: Slugs = None,
    raw: RawFolder = None,
    prepared: From = None,
    kaggle: Annotated[
        bool, typer.Option("--kaggle", help="download the raw files with your Kaggle account")
    ] = False,
    suite: Annotated[str, typer.Option(help="the competitions of this suite, with --kaggle")] = "",
    jobs: Annotated[
        int, typer.Option(min=1, help="preparations at the same time, with --kaggle")
    ] = 2,
    again: Annotated[
        bool, typer.Option("--again", help="prepare again even if up to date, with --kaggle")
    ] = False,
    delete_archives: Annotated[
        bool,
        typer.Option("--delete-archives", help="delete each archive once its files are prepared"),
    ] = False,
    verify_only: Annotated[
        bool,
        typer.Option(
            "--verify", help="compare what was prepared with its manifest; without names, all"
        ),
    ] = False,
    grading_only: Annotated[
        bool,
        typer.Option(
            "--grading-only", help="leave out images and the like, which only agents need"
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make public and private files from raw files with a competition's own prepare.py.

    The result is in the data directory, below `prepared`, with a manifest of all files. It is there
    only if everything succeeded: the answers score best, the sample submission is valid. This
    command imports nothing.
    """
    if sum((raw is not None, prepared is not None, kaggle, verify_only)) != 1:
        raise typer.BadParameter("give one of --raw, --from, --kaggle and --verify")
    if (suite or again or delete_archives) and not kaggle:
        raise typer.BadParameter("--suite, --again and --delete-archives go with --kaggle")
    if verify_only:
        from app.cli.folders.verify_prepared import verify

        verify(slugs or [], as_json=as_json)
        return
    if not (slugs or suite):
        raise typer.BadParameter("name the competitions to prepare")
    if kaggle:
        from app.cli.folders.prepare_downloads import prepare_downloads
        from app.services.competitions.prepare_downloads import PreparationChoices

        choices = PreparationChoices(grading_only, jobs, again, delete_archives)
        prepare_downloads(slugs or [], suite, choices, as_json=as_json)
        return
    from app.cli.folders.prepare_folders import prepare_folders

    prepare_folders(slugs or [], raw, prepared, grading_only=grading_only, as_json=as_json)
