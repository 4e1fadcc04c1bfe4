"""`podium plot`: pictures of results, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.domain.result_choices import Axis, Padding, PictureKind


def plot(
    kind: Annotated[PictureKind, typer.Argument(help="the kind of picture")],
    out: Annotated[
        Path, typer.Option(help="the file; it ends in .svg, .png, .pdf, .vl.json or .csv")
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="an experiment, two for a comparison, or a competition's name"),
    ] = None,
    suite: Annotated[str, typer.Option(help="only the competitions of this suite")] = "",
    axis: Annotated[Axis, typer.Option(help="of medals-over-time")] = Axis.HOURS,
    padding: Annotated[
        Padding | None,
        typer.Option(help="how missing results count: fail, and available for a comparison"),
    ] = None,
) -> None:
    """Draw a picture of results into a file, with a caption of what was counted.

    Also writes the numbers as NAME.csv.

    medal-rates and cost need no name, leaderboard a competition, comparison two experiments, and
    the others one. The pages of a server show the same pictures.
    """
    from app.cli.results.draw import draw

    # As on pages, which show the same pictures.
    usual = Padding.AVAILABLE if kind is PictureKind.COMPARISON else Padding.FAIL
    draw(kind, names or [], suite, padding or usual, axis, out)
