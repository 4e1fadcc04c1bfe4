"""Pictures by address: SVG, PNG, PDF, or the specification of Vega-Lite."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Path, Request, Response

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, ExperimentPath, Slug
from app.api.http.file_responses import has_tag
from app.api.results import Rate
from app.domain.result_choices import Axis, Padding
from app.errors import NotFound
from app.pictures import kinds
from app.pictures.picture import Picture
from app.pictures.renderer import MEDIA_TYPES, Format, Renderer
from app.reports.comparison_sentence import comparison_sentence
from app.services.competitions import queries
from app.services.results import board, cells, competition_results, medals_over_time, overview
from app.services.results.inputs.scope import ResultFilter
from app.web.boards import ROWS, HowMissing, SuiteName
from app.web.compare import Name
from app.web.experiments import PAGE, Suite

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS])
Form = Annotated[str, Path(max_length=10)]


@router.get("/suites/{suite}/medal-rates.{form}")
def medal_rates(
    request: Request,
    context: Ctx,
    suite: SuiteName,
    form: Form,
    padding: HowMissing = Padding.FAIL,
) -> Response:
    """The medals of the first experiments of a board."""
    found = board.experiment_board(context, ResultFilter(suite, padding), None, limit=ROWS)
    return drawn(request, kinds.medal_rates_picture(found, suite), form)


@router.get("/competitions/{slug}/leaderboard.{form}")
def leaderboard(request: Request, context: Ctx, caller: Anyone, slug: Slug, form: Form) -> Response:
    """The human leaderboard of a competition with all attempts on it."""
    entry, _ = queries.leaderboard(context, caller, slug)
    _, attempts = competition_results.at_competition(context, slug, "not-better")
    return drawn(request, kinds.leaderboard_picture(entry, attempts), form)


@router.get("/experiments/{name}/medals-over-time.{form}")
def over_time(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    form: Form,
    axis: Axis = Axis.HOURS,
    suite: Suite = "",
    padding: HowMissing = Padding.FAIL,
) -> Response:
    """Medals over hours, tokens or dollars."""
    scope = ResultFilter(suite or None, padding)
    found = medals_over_time.curves(context, name, scope, axis, ())
    return drawn(request, kinds.medals_over_time_picture(name, found), form)


@router.get("/experiments/{name}/heat-map.{form}")
def heat_map(
    request: Request, context: Ctx, name: ExperimentPath, form: Form, suite: Suite = ""
) -> Response:
    """Each competition and seed of an experiment."""
    found = cells.heat_map(context, name, suite or None)
    return drawn(request, kinds.heat_map_picture(name, found), form)


@router.get("/comparison.{form}")
def comparison(
    request: Request,
    context: Ctx,
    form: Form,
    a: Name,
    b: Name,
    suite: Suite = "",
    rate: Rate = "any_medal",
    padding: HowMissing = Padding.AVAILABLE,
) -> Response:
    """Two experiments, competition by competition."""
    scope = ResultFilter(suite or None, padding)
    first, second, found = board.compare(context, a, b, scope, rate)
    sentence = comparison_sentence(a, b, found, rate)
    return drawn(request, kinds.comparison_picture(first, second, rate, sentence), form)


@router.get("/cost.{form}")
def cost(request: Request, context: Ctx, form: Form) -> Response:
    """Medals against cost, of the newest experiments."""
    found, _ = overview.page(context, q="", sort="created", descending=True, limit=PAGE, offset=0)
    return drawn(request, kinds.cost_picture(found), form)


def drawn(request: Request, picture: Picture, form: str) -> Response:
    """The answer with a picture, which a browser downloads again only if it has changed."""
    if form not in MEDIA_TYPES:
        raise NotFound(f"Pictures end in .{', .'.join(MEDIA_TYPES)}; there is no .{form}.")
    renderer: Renderer = request.app.state.renderer
    content, digest = renderer.render(picture, cast(Format, form))
    headers = {"ETag": f'"{digest}"', "Cache-Control": "private, no-cache"}
    if has_tag(request, digest):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=MEDIA_TYPES[form], headers=headers)
