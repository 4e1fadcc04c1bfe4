"""Import competitions and leaderboards with Kaggle's own package."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from app.cli.context import podium
from app.cli.imports.archived_note import note_archived
from app.cli.output import err, json_at_the_end, one_of, out, print_note
from app.cli.progress import file_progress
from app.cli.remote import can_be_key
from app.domain.states import ArchivalKind
from app.domain.wording import counted
from app.errors import Invalid
from app.importers.kaggle_leaderboard import read_kaggle_leaderboard
from app.importers.kaggle_source import KaggleCompetition, KaggleSource, reach_podium
from app.services.competitions.import_kaggle import (
    ImportReadiness,
    KaggleImport,
    import_from_kaggle,
    readiness,
)
from app.services.competitions.import_leaderboard import replace_leaderboard
from app.services.runtime.context import Context


def connect(source: str, key_file: Path | None) -> None:
    """Ask the Podium at `source` with the key in the file, instead of Kaggle.

    Raises:
        Invalid: only one of them is given, or the file has no key, or that of a run.
    """
    if bool(source) != (key_file is not None):
        raise Invalid("Give --from and --key-file together.")
    if key_file is None:
        return
    key = key_file.read_text(encoding="utf-8", errors="replace").strip()
    if not can_be_key(key):
        raise Invalid(f"{key_file} has no key: expected a text of one line, as pod_researcher_...")
    if key.startswith("pod_run_"):
        raise Invalid(
            f"{key_file} has the key of a run, which sees only its own line of the leaderboard. "
            "Use a researcher's key of that Podium."
        )
    reach_podium(source, key)


def import_competitions(slugs: list[str], *, check_only: bool, as_json: bool) -> None:
    """Import all of them, or say why not. Ends with status 1 if one is not ready, or failed."""
    found: list[ImportReadiness] = []
    done: list[KaggleImport] = []
    failed: list[str] = []
    printed = json_at_the_end(
        found,
        lambda: {
            "readiness": [asdict(one) for one in found],
            "imported": [_document(one) for one in done],
        },
        as_json=as_json,
    )
    with printed, podium(creates=True) as context:
        connection = KaggleSource(print_note)
        for slug in slugs:
            found.append(readiness(context, connection, slug))
            _report(found[-1])
        if any(one.obstacles for one in found):
            err.print("Nothing was downloaded.")
            failed = [one.slug for one in found if one.obstacles]
        elif not check_only:
            for about in (one.about for one in found if one.about):
                with one_of(len(slugs), about.slug, "not imported", failed):
                    done.append(_import(context, connection, about))
                    if not as_json:
                        _print(done[-1])
                    note_archived(context, ArchivalKind.COMPETITION, done[-1].slug)
    if failed:
        raise typer.Exit(1)


def _import(context: Context, connection: KaggleSource, about: KaggleCompetition) -> KaggleImport:
    with file_progress(about.slug) as progress:
        return import_from_kaggle(context, connection, about, print_note, progress)


def replace_board(slug: str, file: Path | None) -> None:
    """Replace the leaderboard by that in the file; None: by Kaggle's, which is downloaded."""
    with podium() as context:
        if file is None:
            home = context.settings.data_dir / "kaggle" / slug / "leaderboard"
            board = read_kaggle_leaderboard(KaggleSource(print_note).leaderboard(slug, home))
            name = f"kaggle:{slug}"
        else:
            board, name = read_kaggle_leaderboard(file), f"file:{file.name}"
        imported = replace_leaderboard(context, slug, board, name)
        verb = "imported as" if imported.created else "was imported before as"
        teams = counted(board.teams, "team")
        out.print(f"{slug}, with a leaderboard of {teams}, {verb} {imported.version.number}")
        note_archived(context, ArchivalKind.COMPETITION, slug)


def _report(one: ImportReadiness) -> None:
    about = one.about
    if about is not None:
        least = "" if about.is_all else "at least "
        print_note(
            f"{one.slug}: {about.title!r}, metric {about.metric or 'unknown'!r}, "
            f"{least}{about.files:,} files, {about.bytes:,} bytes; "
            f"needs {one.bytes_needed:,} of {one.bytes_free:,} bytes of disk"
        )
    for obstacle in one.obstacles:
        print_note(f"{one.slug}: not ready: {obstacle}")


def _document(one: KaggleImport) -> dict[str, object]:
    version = one.imported.version if one.imported else None
    return {
        "slug": one.slug,
        "version": version.number if version else None,
        "created": one.imported.created if one.imported else False,
        "status": version.status.value if version else "draft",
        "folder": one.folder,
        "todo": list(one.todo),
    }


def _print(one: KaggleImport) -> None:
    if one.imported is None:
        out.print(f"{one.slug}: drafted in {one.folder}. Before the next import:", highlight=False)
        for line in one.todo:
            out.print(f"  - {line}", markup=False, highlight=False)
        return
    version = one.imported.version
    verb = "imported as" if one.imported.created else "was imported before as"
    out.print(f"{one.slug} {verb} version {version.number} ({version.status.value})")
