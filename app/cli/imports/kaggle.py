"""`podium import kaggle` and `podium import leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, regular
from app.errors import Invalid

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
    from app.cli.imports.from_kaggle import connect, import_competitions

    connect(source, key_file)
    import_competitions(slugs, check_only=check_only, as_json=as_json)


def leaderboard(
    slug: Annotated[str, typer.Argument(help="the competition")],
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Kaggle's zip or CSV, or any CSV with `score`", exists=True, callback=regular
        ),
    ] = None,
    kaggle: Annotated[bool, typer.Option("--kaggle", help="download Kaggle's leaderboard")] = False,
    source: From = "",
    key_file: KeyFile = None,
) -> None:
    """Replace only a competition's human leaderboard; this makes a new version."""
    if (file is None) == (not kaggle):
        raise Invalid("Give either a file or --kaggle.")
    from app.cli.imports.from_kaggle import connect, replace_board

    connect(source, key_file)
    replace_board(slug, file)
