"""`podium plot`: pictures of results, as files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import typer

from app.cli.context import podium
from app.cli.output import working
from app.domain.result_choices import Axis, Padding
from app.domain.wording import counted
from app.errors import Invalid, NotFound
from app.pictures import kinds
from app.pictures.picture import Picture
from app.pictures.renderer import MEDIA_TYPES, Format, Renderer
from app.reports.comparison_sentence import comparison_sentence
from app.services.competitions import queries
from app.services.results import board, cells, competition_results, medals_over_time, overview
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context

NEWEST = 100  # experiments in the picture of costs


class Kind(StrEnum):
    """The kinds of pictures."""

    MEDAL_RATES = "medal-rates"
    LEADERBOARD = "leaderboard"
    MEDALS_OVER_TIME = "medals-over-time"
    COMPARISON = "comparison"
    COST = "cost"
    HEAT_MAP = "heat-map"


def plot(
    kind: Annotated[Kind, typer.Argument(help="the kind of picture")],
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

    The numbers that are drawn are written beside it, into a file of the same name with .csv.

    medal-rates and cost need no name, leaderboard a competition, comparison two experiments, and
    the others one. The pages of a server show the same pictures.
    """
    form = next((each for each in MEDIA_TYPES if out.name.endswith(f".{each}")), None)
    if form is None:
        raise Invalid(f"--out: the file must end in .{', .'.join(MEDIA_TYPES)}.")
    if not out.parent.is_dir():
        raise Invalid(f"--out: there is no folder {out.parent}.")
    # As the pages, whose pictures these are.
    usual = Padding.AVAILABLE if kind is Kind.COMPARISON else Padding.FAIL
    scope = ResultFilter(suite or None, padding or usual)
    with podium(doing="counting results") as context:
        picture = _picture(context, kind, names or [], scope, axis)
    with working("drawing"):
        content, _ = Renderer().render(picture, cast(Format, form))
    try:
        out.write_bytes(content)
        out.with_name(f"{out.name.removesuffix(f'.{form}')}.csv").write_bytes(picture.csv())
    except OSError as error:
        raise Invalid(f"--out: {error.filename} cannot be written: {error.strerror}.") from None
    typer.echo(f"{out}: {picture.caption}")


def _picture(
    context: Context, kind: Kind, names: list[str], scope: ResultFilter, axis: Axis
) -> Picture:
    wanted = {Kind.MEDAL_RATES: None, Kind.COST: 0, Kind.COMPARISON: 2}.get(kind, 1)
    if wanted is not None and len(names) != wanted:
        verb = "is" if len(names) == 1 else "are"
        takes = counted(wanted, "name") if wanted else "no name"
        raise Invalid(f"{kind.value} takes {takes}, and {len(names)} {verb} given.")
    if kind is Kind.MEDAL_RATES:
        found = board.experiment_board(context, scope, None, names)
        return kinds.medal_rates_picture(found, scope.suite or "the common competitions")
    if kind is Kind.COST:
        listed, _ = overview.page(
            context, q="", sort="created", descending=True, limit=NEWEST, offset=0
        )
        return kinds.cost_picture(listed)
    if kind is Kind.COMPARISON:
        a, b = names
        first, second, difference = board.compare(context, a, b, scope, "any_medal")
        sentence = comparison_sentence(a, b, difference, "any_medal")
        return kinds.comparison_picture(first, second, difference, "any_medal", sentence)
    (name,) = names
    if kind is Kind.LEADERBOARD:
        entry = queries.current(context, name)
        if entry is None:
            raise NotFound(f"There is no competition {name!r}.")
        _, attempts = competition_results.at_competition(context, name, "not-better")
        return kinds.leaderboard_picture(entry, attempts)
    if kind is Kind.MEDALS_OVER_TIME:
        curves = medals_over_time.curves(context, name, scope, axis, ())
        return kinds.medals_over_time_picture(name, curves)
    return kinds.heat_map_picture(name, cells.heat_map(context, name, scope.suite))
