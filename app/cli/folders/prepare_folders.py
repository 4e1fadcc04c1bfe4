"""Prepare folders from files that are here, and print what was made."""

from __future__ import annotations

from pathlib import Path

from app.cli.output import out, print_json
from app.cli.progress import file_progress
from app.read_settings import read_settings
from app.services.competitions.check_competition import folders_in
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
    """Prepare these competitions from `raw`, or from what a benchmark has `prepared`."""
    settings = read_settings()
    folders = folders_in(settings.competitions_dir, list(dict.fromkeys(slugs)))
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
                    made = prepare(
                        folder, files, settings.data_dir, graders, grading_only=grading_only,
                        progress=progress,
                    )  # fmt: skip
            done.append(made)
            if not as_json:
                print_prepared(made)
    if as_json:
        print_json([document(one) for one in done])


def print_prepared(made: Prepared) -> None:
    """Print where a prepared folder is, and what its self-test says."""
    line = f"{made.folder.name}: prepared. To import it: podium import folder {made.folder}"
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def document(made: Prepared) -> dict[str, object]:
    """A prepared folder as JSON."""
    manifest = made.manifest
    return {
        "slug": manifest.competition, "folder": str(made.folder), "root": manifest.root,
        "files": len(manifest.files), "bytes": sum(file.bytes for file in manifest.files),
        "grading_only": manifest.grading_only, "self_test": manifest.self_test,
    }  # fmt: skip
