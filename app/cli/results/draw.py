"""Draw a picture of results into a file, and write its numbers next to it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from app.cli.context import podium
from app.cli.output import print_line
from app.cli.progress import working
from app.cli.results.written_file import write_file
from app.domain.result_choices import Axis, Padding, PictureKind
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


def draw(
    kind: PictureKind, names: list[str], suite: str, padding: Padding, axis: Axis, out: Path
) -> None:
    """Write the picture, its numbers as .csv, and its caption on standard output.

    Raises:
        Invalid: the file cannot be written, or `names` are too many or too few.
    """
    form = next((each for each in MEDIA_TYPES if out.name.endswith(f".{each}")), None)
    if form is None:
        *most, last = (f".{each}" for each in MEDIA_TYPES)
        raise Invalid(f"--out: the file must end in {', '.join(most)} or {last}.")
    if not out.parent.is_dir():
        raise Invalid(f"--out: there is no folder {out.parent}.")
    scope = ResultFilter(suite or None, padding)
    with podium(doing="counting results") as context:
        picture = _picture(context, kind, names, scope, axis)
    with working("drawing"):
        content, _ = Renderer().render(picture, cast(Format, form))
    write_file("--out", out, content)
    write_file("--out", out.with_name(f"{out.name.removesuffix(f'.{form}')}.csv"), picture.csv())
    print_line(f"{out}: {picture.caption}")


def _picture(
    context: Context, kind: PictureKind, names: list[str], scope: ResultFilter, axis: Axis
) -> Picture:
    wanted = {PictureKind.MEDAL_RATES: None, PictureKind.COST: 0, PictureKind.COMPARISON: 2}.get(
        kind, 1
    )
    if wanted is not None and len(names) != wanted:
        verb = "is" if len(names) == 1 else "are"
        takes = counted(wanted, "name") if wanted else "no name"
        raise Invalid(f"{kind.value} takes {takes}, and {len(names)} {verb} given.")
    if kind is PictureKind.MEDAL_RATES:
        found = board.experiment_board(context, scope, None, names)
        return kinds.medal_rates_picture(found, scope.suite or "the common competitions")
    if kind is PictureKind.COST:
        listed, _ = overview.page(
            context, q="", sort="created", descending=True, limit=NEWEST, offset=0
        )
        return kinds.cost_picture(listed)
    if kind is PictureKind.COMPARISON:
        a, b = names
        first, second, difference = board.compare(context, a, b, scope, "any_medal")
        sentence = comparison_sentence(a, b, difference, "any_medal")
        return kinds.comparison_picture(first, second, "any_medal", sentence)
    (name,) = names
    if kind is PictureKind.LEADERBOARD:
        entry = queries.current(context, name)
        if entry is None:
            raise NotFound(f"There is no competition {name!r}.")
        _, attempts = competition_results.at_competition(context, name, "not-better")
        return kinds.leaderboard_picture(entry, attempts)
    if kind is PictureKind.MEDALS_OVER_TIME:
        curves = medals_over_time.curves(context, name, scope, axis, ())
        return kinds.medals_over_time_picture(name, curves)
    return kinds.heat_map_picture(name, cells.heat_map(context, name, scope.suite))
