"""`podium import kaggle` and `podium import leaderboard`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.output import AsJson, err, file_progress, out, print_json
from app.errors import Invalid
from app.importers.kaggle_leaderboard import read_kaggle_leaderboard
from app.importers.kaggle_source import KaggleSource, reach_podium
from app.services.competitions.import_kaggle import (
    ImportReadiness,
    KaggleImport,
    import_from_kaggle,
    readiness,
)
from app.services.competitions.import_leaderboard import replace_leaderboard

Slugs = Annotated[list[str], typer.Argument(help="Kaggle's slugs of competitions")]
From = Annotated[str, typer.Option("--from", help="another Podium instead of Kaggle")]
KeyFile = Annotated[
    Path | None, typer.Option(help="a file with that Podium's key", exists=True, dir_okay=False)
]


def kaggle(
    slugs: Slugs,
    source: From = "",
    key_file: KeyFile = None,
    check_only: Annotated[
        bool, typer.Option(help="say what is ready, without downloading")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import competitions with Kaggle's own package, or from another Podium (--from)."""
    _connect(source, key_file)
    with podium(creates=True) as context:
        connection = KaggleSource(_print_progress)
        found = [readiness(context, connection, slug) for slug in slugs]
        for one in found:
            _report(one)
        imported_ones: list[KaggleImport] = []
        if any(one.obstacles for one in found):
            err.print("Nothing was downloaded.")
        elif not check_only:
            for about in (one.about for one in found if one.about):
                with file_progress(about.slug) as progress:
                    imported_ones.append(
                        import_from_kaggle(context, connection, about, _print_progress, progress)
                    )
    if as_json:
        print_json(
            {"readiness": [asdict(one) for one in found],
             "imported": [_document(one) for one in imported_ones]}
        )  # fmt: skip
    else:
        for done in imported_ones:
            _print(done)
    if any(one.obstacles for one in found):
        raise typer.Exit(1)


def leaderboard(
    slug: Annotated[str, typer.Argument(help="the competition")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Kaggle's zip or CSV, or any CSV with `score`", exists=True),
    ] = None,
    kaggle: Annotated[bool, typer.Option("--kaggle", help="download Kaggle's leaderboard")] = False,
    source: From = "",
    key_file: KeyFile = None,
) -> None:
    """Replace only a competition's human leaderboard; this makes a new version."""
    if (file is None) == (not kaggle):
        raise Invalid("Give either a file or --kaggle.")
    _connect(source, key_file)
    with podium() as context:
        if file is None:
            home = context.settings.data_dir / "kaggle" / slug / "leaderboard"
            file = KaggleSource(_print_progress).leaderboard(slug, home)
        board = read_kaggle_leaderboard(file)
        name = f"kaggle:{slug}" if kaggle else f"file:{file.name}"
        imported = replace_leaderboard(context, slug, board, name)
    verb = "imported as" if imported.created else "was imported before as"
    out.print(
        f"{slug}, with a leaderboard of {board.teams} teams, {verb} {imported.version.number}"
    )


def _connect(source: str, key_file: Path | None) -> None:
    if bool(source) != (key_file is not None):
        raise Invalid("Give --from and --key-file together.")
    if key_file is None:
        return
    key = key_file.read_text(encoding="utf-8").strip()
    if key.startswith("pod_run_"):
        raise Invalid(
            f"{key_file} has the key of a run, which sees only its own line of the leaderboard. "
            "Use a researcher's key of that Podium."
        )
    reach_podium(source, key)


def _report(one: ImportReadiness) -> None:
    about = one.about
    if about is not None:
        least = "" if about.is_all else "at least "
        _print_progress(
            f"{one.slug}: {about.title!r}, metric {about.metric or 'unknown'!r}, "
            f"{least}{about.files:,} files, {about.bytes:,} bytes; "
            f"needs {one.bytes_needed:,} of {one.bytes_free:,} bytes of disk"
        )
    for obstacle in one.obstacles:
        _print_progress(f"{one.slug}: not ready: {obstacle}")


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


def _print_progress(words: str) -> None:
    err.print(words, markup=False, highlight=False)
