"""Prepare folders from files on this machine, and print the results."""

from __future__ import annotations

from pathlib import Path

import typer

from app.cli.output import import_command, json_at_the_end, one_of, out
from app.cli.progress import file_progress
from app.read_settings import read_settings
from app.services.competitions.folders import folders_in
from app.services.competitions.prepare import Prepared, Raw, prepare, prepare_from, raw_files
from app.services.grading.grade_folder import local_graders


def prepare_folders(
    slugs: list[str],
    raw: Path | None,
    prepared: Path | None,
    *,
    grading_only: bool,
    as_json: bool,
) -> None:
    """Prepare these competitions from `raw`, or from what a benchmark has `prepared`.

    If one cannot be prepared, the others are, and the status is 1.
    """
    settings = read_settings()
    folders = folders_in(settings.competitions_dir, list(dict.fromkeys(slugs)))
    done: list[Prepared] = []
    failed: list[str] = []
    printed = json_at_the_end(done, lambda: [document(one) for one in done], as_json=as_json)

    def prepare_one(folder: Path) -> Prepared:
        with file_progress(folder.name) as progress:
            if prepared is not None:
                return prepare_from(
                    folder, prepared, settings.data_dir, graders,
                    grading_only=grading_only, progress=progress,
                )  # fmt: skip
            assert raw is not None  # noqa: S101 (the command has checked it)
            files = Raw(raw_files(raw, folder.name, alone=len(folders) == 1))
            return prepare(
                folder, files, settings.data_dir, graders,
                grading_only=grading_only, progress=progress,
            )  # fmt: skip

    with printed, local_graders(settings) as graders:
        for folder in folders:
            with one_of(len(folders), folder.name, "not prepared", failed):
                done.append(prepare_one(folder))
                if not as_json:
                    print_prepared(done[-1])
    if failed:
        raise typer.Exit(1)


def print_prepared(made: Prepared) -> None:
    """Print where a prepared folder is, and what its self-test says."""
    line = f"{made.folder.name}: prepared. To import it: {import_command(made.folder)}"
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def document(made: Prepared) -> dict[str, object]:
    """A prepared folder as JSON."""
    manifest = made.manifest
    return {
        "slug": manifest.competition, "folder": str(made.folder), "root": manifest.root,
        "files": len(manifest.files), "bytes": sum(file.bytes for file in manifest.files),
        "grading_only": manifest.grading_only, "self_test": manifest.self_test,
    }  # fmt: skip
