"""The board: medal rates of several experiments, in pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies import FOR_RESEARCHERS, Ctx, Cursor, Limit
from app.api.http.negotiation import answer
from app.api.http.next_page import next_address, with_link
from app.api.results import ANSWERS, Experiments, Group, InScope
from app.api.schemas.results import BoardOut
from app.reports.medal_rates import board_report
from app.services.results import board

router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])
Columns = Annotated[
    list[str],
    Query(
        max_length=100,
        description="the columns and their order, by name, separated by commas, in Markdown, CSV "
        "and Parquet; an unknown name is refused with a list of the known ones",
    ),
]


@router.get("/medal-rates", response_model=BoardOut, responses=ANSWERS)
def show_board(
    request: Request,
    response: Response,
    context: Ctx,
    scope: InScope,
    group_by: Group = None,
    experiments: Experiments = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """The medal rates of experiments over the same competitions, best first, in pages.

    Without a suite these are the competitions that all of the experiments have. The header `Link`
    has the address of the next page.
    """
    found = board.experiment_board(context, scope, group_by, experiments, after=cursor, limit=limit)
    following = next_address(request, found.next_cursor)
    shown = answer(request, board_report(found, group_by, columns, following))
    return with_link(shown, response, following)
