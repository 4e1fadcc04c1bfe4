"""`podium prepare`: from raw files to a folder that can be imported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.folders.prepare_downloads import prepare_downloads
from app.cli.folders.prepared_output import document, print_prepared
from app.cli.folders.verify_prepared import verify
from app.cli.output import AsJson, file_progress, print_json
from app.errors import Invalid
from app.read_settings import read_settings
from app.services.competitions.check_competition import folders_in
from app.services.competitions.prepare import Prepared, Raw, prepare_from, raw_files
from app.services.competitions.prepare import prepare as prepare_one
from app.services.competitions.prepare_downloads import PreparationChoices
from app.services.competitions.suites import declared
from app.services.grading.grade_folder import local_graders

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
        bool, typer.Option("--again", help="also what is prepared already, with --kaggle")
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
    settings = read_settings()
    if sum((raw is not None, prepared is not None, kaggle, verify_only)) != 1:
        raise Invalid("Give one of --raw, --from, --kaggle and --verify.")
    if (suite or again or delete_archives) and not kaggle:
        raise Invalid("--suite, --again and --delete-archives go with --kaggle.")
    if verify_only:
        verify(settings, slugs or [], as_json=as_json)
        return
    slugs = [*(slugs or []), *(declared(settings.competitions_dir, suite) if suite else [])]
    if not slugs:
        raise Invalid("Name the competitions to prepare.")
    folders = folders_in(settings.competitions_dir, list(dict.fromkeys(slugs)))
    if kaggle:
        choices = PreparationChoices(grading_only, jobs, again, delete_archives)
        prepare_downloads(settings, folders, choices, as_json=as_json)
        return
    done: list[Prepared] = []
    with local_graders(settings) as graders:
        for folder in folders:
            with file_progress(folder.name) as progress:
                if prepared is not None:
                    made = prepare_from(
                        folder, prepared, settings.data_dir, graders, grading_only=grading_only,
                        progress=progress,
                    )  # fmt: skip
                else:
                    assert raw is not None  # noqa: S101 (checked above)
                    files = Raw(raw_files(raw, folder.name, alone=len(folders) == 1))
                    made = prepare_one(
                        folder, files, settings.data_dir, graders, grading_only=grading_only,
                        progress=progress,
                    )  # fmt: skip
            done.append(made)
            if not as_json:
                print_prepared(made)
    if as_json:
        print_json([document(one) for one in done])
