"""`podium prepare --verify`: compare prepared folders with their manifests."""

from __future__ import annotations

from dataclasses import asdict

import typer

from app.cli.output import print_json, print_line, print_note
from app.cli.progress import file_progress
from app.errors import NotFound
from app.preparation.manifest import FILE
from app.read_settings import read_settings
from app.services.competitions.prepare import prepared_place
from app.services.competitions.prepared_folder import FOLDER
from app.services.competitions.verify_prepared import VerifiedPreparation, verify_prepared


def verify(slugs: list[str], *, as_json: bool) -> None:
    """Verify the named competitions, or all that are prepared; end with status 1 if one differs."""
    settings = read_settings()
    root = settings.data_dir / FOLDER
    names = slugs or sorted(file.parent.name for file in root.glob(f"*/{FILE}"))
    if not names:
        raise NotFound(f"Nothing is prepared in {root}.")
    found = []
    for slug in names:
        archive = settings.data_dir / "downloads" / f"{slug}.zip"
        with file_progress(slug) as progress:
            found.append(
                verify_prepared(
                    prepared_place(settings.data_dir, slug), settings.competitions_dir / slug,
                    archive if archive.is_file() else None, progress,
                )
            )  # fmt: skip
        if not as_json:
            _print(found[-1])
    if as_json:
        print_json([{**asdict(one), "is_whole": one.is_whole} for one in found])
    if not all(one.is_whole for one in found):
        raise typer.Exit(1)


def _print(one: VerifiedPreparation) -> None:
    lines = [
        *one.damage,
        *(f"missing: {name}" for name in one.differences.missing),
        *(f"extra: {name}" for name in one.differences.extra),
        *(f"changed: {name}: {how}" for name, how in one.differences.changed.items()),
    ]
    for line in lines:
        print_note(f"{one.slug}: {line}")
    if not lines:
        print_line(f"{one.slug}: {one.files:,} files are as listed, root digest {one.root}")
    for note in one.notes:
        print_line(f"{one.slug}: {note}")
