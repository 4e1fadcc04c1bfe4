"""The list of competitions, and one competition with all attempts at it."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor, Slug
from app.reports.competition_results import competition_report
from app.services.competitions import queries
from app.services.experiments.archiving import archived_of_competition
from app.services.regrades import show
from app.services.results import competition_results
from app.services.results.competition_results import CompetitionResult
from app.services.results.noise.experiment_noise import near_lines
from app.web.experiments import Suite, Words
from app.web.page_data.facts import archived_facts, competition_facts
from app.web.page_data.formats import PAGE_FORMAT
from app.web.page_data.paging import Paging
from app.web.page_data.rows import catalogue_rows
from app.web.rendering.fill_templates import page

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, PAGE_FORMAT])
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
        request, caller, "competitions.html", title="Competitions",
        api=f"/v1/competitions{_query(q=q.strip(), suite=suite)}",
        found=[entry for entry, _ in found], q=q, suite=suite, after=after,
        suites=sorted(context.catalogue.suites()),
        is_first=cursor is None, table=lambda: catalogue_rows([entry for entry, _ in found]),
        facts=lambda: {"q": q, "suite": suite or None, "next_cursor": after},
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
    info, attempts = competition_results.at_competition(context, slug, "not-better")
    higher = entry.competition.metric.higher_is_better
    attempts = sorted(attempts, key=lambda one: _order(one, sort, higher=higher))
    paging = Paging(number, ATTEMPTS, len(attempts))
    shown = attempts[paging.offset : paging.offset + ATTEMPTS]
    regrades, more_regrades = show.page(context, slug, None, REGRADES)
    suites, versions = queries.suites_of(context, slug), queries.versions(context, slug)
    archived = archived_of_competition(context, slug)
    return page(
        request, caller, "competition.html", title=entry.competition.title,
        api=f"/v1/competitions/{slug}", archived=archived, entry=entry, sort=sort, paging=paging,
        attempts=shown, suites=suites, regrades=regrades,
        versions=versions,
        more_regrades=more_regrades is not None,
        near=near_lines(context, {
            one.submission: one.medal for one in shown
            if one.submission and one.regrade is None and one.state == "settled"
        }),
        table=lambda: competition_report(slug, "not-better", info, attempts).rows,
        facts=lambda: {
            **competition_facts(entry, suites, versions, regrades), "sort": sort,
            "archived": archived_facts(archived),
        },
    )  # fmt: skip


def _query(**values: str) -> str:
    """The parameters that have a value, as the end of an address."""
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""


def _order(one: CompetitionResult, sort: Sort, *, higher: bool) -> tuple[bool, float, str, int]:
    """Numbers best first; attempts without the number last."""
    if sort == "experiment":
        return False, 0.0, one.experiment, one.seed
    if sort == "seed":
        return False, one.seed, one.experiment, one.seed
    value = one.score if sort == "score" else one.percentile
    best_first = higher or sort == "percentile"
    return value is None, (-1 if best_first else 1) * (value or 0.0), one.experiment, one.seed
