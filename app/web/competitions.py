"""The list of competitions, and one competition with all attempts at it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor, Slug
from app.reports.competition_results import competition_report
from app.services.competitions import queries
from app.services.regrades import show
from app.services.results import competition_results
from app.services.results.competition_results import CompetitionResult
from app.services.results.noise.near_lines import near_lines
from app.web.csv_twin import CSV_TWIN
from app.web.experiments import Suite, Words
from app.web.paging import Paging
from app.web.rendering import page
from app.web.table_rows import catalogue_rows

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, CSV_TWIN])
LISTED = 100
ATTEMPTS = 200
REGRADES = 50
Sort = Literal["score", "experiment", "seed", "percentile"]


@router.get("/competitions", response_class=HTMLResponse)
def list_competitions(
    request: Request,
    context: Ctx,
    caller: Anyone,
    q: Words = "",
    suite: Suite = "",
    cursor: Cursor = None,
) -> Response:
    """Competitions by name."""
    found, after = queries.page(
        context, caller, suite=suite or None, tag=None, q=q.strip() or None, after=cursor,
        limit=LISTED,
    )  # fmt: skip
    return page(
        request, caller, "competitions.html", title="Competitions", twin="/v1/competitions",
        found=[entry for entry, _ in found], q=q, suite=suite, after=after,
        suites=sorted(context.catalogue.suites()),
        table=lambda: catalogue_rows([entry for entry, _ in found]),
    )  # fmt: skip


@router.get("/competitions/{slug}", response_class=HTMLResponse)
def show_competition(
    request: Request,
    context: Ctx,
    caller: Anyone,
    slug: Slug,
    sort: Sort = "score",
    number: Annotated[int, Query(ge=1, le=100_000, alias="page")] = 1,
) -> Response:
    """A competition: its declaration, its board, and all attempts at it."""
    entry, _ = queries.find(context, caller, slug)
    results = competition_results.at_competition(context, slug, "not-better")
    attempts = results[1]
    higher = entry.competition.metric.higher_is_better
    attempts = sorted(attempts, key=lambda one: _order(one, sort, higher=higher))
    paging = Paging(number, ATTEMPTS, len(attempts))
    shown = attempts[paging.offset : paging.offset + ATTEMPTS]
    regrades, more_regrades = show.page(context, slug, None, REGRADES)
    return page(
        request, caller, "competition.html", title=entry.competition.title,
        twin=f"/v1/competitions/{slug}", entry=entry, sort=sort, paging=paging,
        attempts=shown, suites=queries.suites_of(context, slug), regrades=regrades,
        more_regrades=more_regrades is not None,
        near=near_lines(context, {one.submission: one.medal for one in shown if one.submission}),
        table=lambda: competition_report(slug, "not-better", *results).rows,
    )  # fmt: skip


def _order(one: CompetitionResult, sort: Sort, *, higher: bool) -> tuple[bool, float, str, int]:
    """Numbers best first; attempts without the number last."""
    if sort == "experiment":
        return False, 0.0, one.experiment, one.seed
    if sort == "seed":
        return False, one.seed, one.experiment, one.seed
    value = one.score if sort == "score" else one.percentile
    best_first = higher or sort == "percentile"
    return value is None, (-1 if best_first else 1) * (value or 0.0), one.experiment, one.seed
