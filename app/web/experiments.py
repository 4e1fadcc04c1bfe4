"""The list of experiments, and one experiment competition by competition."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, ExperimentPath
from app.pictures.outcomes import GRADED, outcomes_at
from app.reports.success_rates import success_report
from app.services.results import cells, overview
from app.services.results.only_baselines import success_without_medals
from app.services.results.success_rates import SuccessResults
from app.statistics.rates import ALL
from app.statistics.success import all_last
from app.web.page_data.facts import (
    archived_facts,
    experiment_facts,
    paging_facts,
    success_facts,
)
from app.web.page_data.formats import PAGE_FORMAT
from app.web.page_data.paging import Paging
from app.web.page_data.rows import experiment_rows, heat_map_rows
from app.web.rendering.fill_templates import page

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, PAGE_FORMAT])
PAGE = 100
Words = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
Suite = Annotated[str, Query(max_length=100, pattern=r"^[^\x00]*$")]
Sort = Literal[
    "name", "agent", "model", "created", "any_medal", "gold", "silver", "bronze", "above_median",
    "valid", "percentile", "seconds", "cost_usd", "runs",
]  # fmt: skip
ASCENDING = ("name", "agent", "model")  # texts begin with A, numbers with the greatest


@router.get("/", response_class=HTMLResponse)
def list_experiments(
    request: Request,
    context: Ctx,
    caller: Anyone,
    q: Words = "",
    sort: Sort = "created",
    order: Literal["", "up", "down"] = "",
    page_number: Annotated[int, Query(ge=1, le=100_000, alias="page")] = 1,
) -> Response:
    """Experiments with their rates."""
    descending = (sort not in ASCENDING) if not order else order == "down"
    start = Paging(page_number, PAGE, 0).offset
    found, total = overview.page(
        context, q=q.strip(), sort=sort, descending=descending, limit=PAGE, offset=start
    )
    paging = Paging(page_number, PAGE, total)
    return page(
        request, caller, "experiments.html", title="Experiments", api="/v1/experiments",
        found=found, q=q, sort=sort, descending=descending, ascending=ASCENDING,
        paging=paging, table=lambda: experiment_rows(found),
        facts=lambda: {
            "q": q, "sort": sort, "order": "down" if descending else "up", **paging_facts(paging),
        },
    )  # fmt: skip


@router.get("/experiments/{name}", response_class=HTMLResponse)
def show_experiment(
    request: Request, context: Ctx, caller: Anyone, name: ExperimentPath, suite: Suite = ""
) -> Response:
    """An experiment: each competition and seed with its outcome."""
    found = cells.heat_map(context, name, suite or None)
    # Most experiments have medal rates, so the others are looked for only where there are none.
    has_medals = found.summary.has_boards
    success = None if has_medals else success_without_medals(context, name, suite or None)
    return page(
        request, caller, "experiment.html", title=name, found=found, archived=found.archived,
        success=success and _with_notes(success),
        outcomes_here=outcomes_at(found.has_medians), graded=GRADED,
        api=f"/v1/experiments/{quote(name, safe='')}",
        experiment=found.summary.experiment, suite=suite,
        suites=sorted(context.catalogue.suites()), table=lambda: heat_map_rows(found),
        facts=lambda: {
            "suite": suite or None, **experiment_facts(found),
            "success": success and success_facts(success),
            "archived": archived_facts(found.archived),
        },
    )  # fmt: skip


def _with_notes(found: SuccessResults) -> dict[str, Any]:
    """The success rates with their notes, for the template."""
    return {
        "total": found.groups[ALL], "groups": all_last(found.groups), "members": found.members,
        "name_of_total": ALL, "notes": success_report(found).page().notes,
    }  # fmt: skip
