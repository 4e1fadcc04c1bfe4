"""`podium import`: competitions from folders and archives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.context import podium
from app.cli.imports.archived_note import note_archived
from app.cli.options import AsJson, all_regular
from app.cli.output import err, json_at_the_end, one_of, out
from app.domain.states import ArchivalKind

if TYPE_CHECKING:
    from app.services.competitions.import_folder import Imported
    from app.services.runtime.context import Context

Folders = Annotated[
    list[Path], typer.Argument(help="competition folders", exists=True, file_okay=False)
]
Archives = Annotated[
    list[Path],
    typer.Argument(
        help=".zip, .tar or .tar.gz files", exists=True, dir_okay=False, callback=all_regular
    ),
]


def folder(folders: Folders, as_json: AsJson = False) -> None:
    """Import competition folders; the folder's name is the slug."""
    from app.services.competitions import import_folder

    _import_all(import_folder.import_folder, folders, as_json)


def archive(archives: Archives, as_json: AsJson = False) -> None:
    """Import archives of competition folders."""
    from app.services.competitions import import_folder

    _import_all(import_folder.import_archive, archives, as_json)


def _import_all(
    run: Callable[[Context, Path, Any], Imported], paths: list[Path], as_json: bool
) -> None:
    from app.cli.progress import file_progress

    done: list[Imported] = []
    failed: list[str] = []
    printed = json_at_the_end(done, lambda: [_document(one) for one in done], as_json=as_json)
    with printed, podium(creates=True) as context:
        for path in paths:
            with one_of(len(paths), path.name, "not imported", failed):
                with file_progress(path.name, _bytes(path)) as progress:
                    done.append(run(context, path.resolve(), progress))
                if not as_json:
                    _print_result(done[-1], names_warned=len(paths) > 1)
                note_archived(context, ArchivalKind.COMPETITION, done[-1].version.slug)
    if failed:
        raise typer.Exit(1)


def _bytes(path: Path) -> int | None:
    """The bytes that an import copies; None if they are known only after unpacking."""
    if not path.is_dir():
        return None
    try:
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    except (OSError, RecursionError):  # thousands of nested folders: the import says so
        return None


def _document(imported: Imported) -> dict[str, object]:
    version = imported.version
    return {
        "slug": version.slug, "version": version.number, "created": imported.created,
        "status": version.status.value, "lint": version.lint,
    }  # fmt: skip


def _print_result(imported: Imported, *, names_warned: bool) -> None:
    """Print what was imported. In a log of several, warnings come after all names."""
    version = imported.version
    of = f"{version.slug}: " if names_warned else "  "
    verb = "imported as" if imported.created else "was imported before as"
    out.print(f"{version.slug} {verb} version {version.number} ({version.status.value})")
    for finding in version.lint:
        err.print(f"{of}{finding['severity']}: {finding['message']}", markup=False)
