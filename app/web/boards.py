"""Suites: the board of the experiments at one, and its competitions as items of a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor, Key, any_caller
from app.api.http.query_names import refuse_ignored_parameters
from app.api.results import Rate
from app.domain.result_choices import RATES, GroupBy, Padding
from app.errors import Forbidden, NotFound, Unauthorized
from app.reports.board_columns import board_groups
from app.reports.document.footnotes import EFFECTS
from app.reports.items import items_report
from app.reports.medal_rates import board_report
from app.services.auth import Caller, require_researcher
from app.services.results import board
from app.services.results.inputs.scope import ResultFilter
from app.services.results.inputs.several import Absent
from app.statistics.rasch import FEWEST
from app.web.page_data.formats import PAGE_FORMAT
from app.web.rendering.fill_templates import page

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, PAGE_FORMAT])
public = APIRouter(include_in_schema=False, dependencies=[PAGE_FORMAT])
ROWS = 100
SuiteName = Annotated[str, Path(max_length=100)]
HowMissing = Annotated[Padding, Query()]


@router.get("/suites", response_class=HTMLResponse)
def list_suites(request: Request, context: Ctx, caller: Anyone) -> Response:
    """The suites."""
    return page(
        request, caller, "suites.html", title="Suites", api="/v1/suites",
        suites=sorted(context.catalogue.suites().items()),
        table=lambda: [
            {"suite": name, "competition": slug}
            for name, slugs in sorted(context.catalogue.suites().items())
            for slug in slugs
        ],
    )  # fmt: skip


def board_reader(request: Request, context: Ctx, key: Key, suite: SuiteName) -> Caller | None:
    """The researcher who reads a board; None for anybody else at a public board.

    Raises:
        Unauthorized, Forbidden: the board is not public, and the caller is not a researcher.
    """
    try:
        found = any_caller(request, context, key)
        require_researcher(found)
    except (Unauthorized, Forbidden):
        if suite not in context.settings.public_suites:
            raise
        if suite not in context.catalogue.suites():  # the usual text names all suites
            raise NotFound("There is no public board at this address.") from None
        refuse_ignored_parameters(request)
        return None
    return found


@public.get("/suites/{suite}", response_class=HTMLResponse)
def show_board(
    request: Request,
    context: Ctx,
    caller: Annotated[Caller | None, Depends(board_reader)],
    suite: SuiteName,
    padding: HowMissing = Padding.FAIL,
    cursor: Cursor = None,
) -> Response:
    """The board of a suite: experiments by their rate of medals."""
    scope = ResultFilter(suite, padding)
    found = board.experiment_board(context, scope, GroupBy.COMPLEXITY, after=cursor, limit=ROWS)
    columns = board_groups(list(dict.fromkeys(n for _, groups in found.rows for n in groups)))
    api = (
        ""
        if caller is None
        else f"/v1/medal-rates?suite={quote(suite)}&padding={padding.value}&group_by=complexity"
    )
    return page(
        request, caller, "board.html", title=f"Board of {suite}", api=api, suite=suite,
        padding=padding.value, paddings=[each.value for each in Padding], found=found,
        columns=columns, size=len(context.catalogue.suite(suite)), is_first=cursor is None,
        table=None if caller is None else lambda: board_report(found, GroupBy.COMPLEXITY).rows,
        facts=None if caller is None else lambda: {
            "suite": suite, "padding": padding, "competitions": found.competitions,
            "not_counted": _not_counted(found.absent), "next_cursor": found.next_cursor,
        },
    )  # fmt: skip


@router.get("/suites/{suite}/items", response_class=HTMLResponse)
def show_items(
    request: Request,
    context: Ctx,
    caller: Anyone,
    suite: SuiteName,
    rate: Rate = "any_medal",
    padding: HowMissing = Padding.FAIL,
) -> Response:
    """The competitions of a suite as items: which separate the experiments, and which do not."""
    scope = ResultFilter(suite, padding)
    contexts, table, absent = board.items(context, scope, rate)
    names = [one.experiment.name for one in contexts]
    api = f"/v1/suites/{quote(suite, safe='')}/items?rate={rate}&padding={padding.value}"
    return page(
        request, caller, "items.html", title=f"Items of {suite}", api=api, suite=suite,
        rate=rate, rates=RATES, items=table.items, names=names, absent=absent, fewest=FEWEST,
        dispersion=table.dispersion,
        padding=padding.value, paddings=[each.value for each in Padding],
        missing=sum(len(one.missing) for one in contexts), effect=EFFECTS[padding.value],
        facts=lambda: {
            "suite": suite, "rate": rate, "padding": padding, "experiments": names,
            "dispersion": table.dispersion, "not_counted": _not_counted(absent),
        },
        table=lambda: items_report(scope, contexts, table, absent, rate).rows,
    )  # fmt: skip


def _not_counted(absent: Sequence[Absent]) -> list[dict[str, str]]:
    """The experiments that have no rate, each with the reason."""
    return [{"experiment": name, "reason": reason} for name, reason in absent]
