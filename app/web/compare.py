"""Two experiments side by side, and one experiment's medals over time."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, ExperimentPath
from app.api.results import Rate
from app.domain.result_choices import RATES, Axis, Padding
from app.errors import PodiumError
from app.reports.comparison_sentence import comparison_sentence
from app.reports.document.footnotes import EFFECTS
from app.reports.medals_over_time import curves_report
from app.services.experiments import experiments
from app.services.experiments.archiving import archived_of_experiments
from app.services.results import board, medals_over_time
from app.services.results.inputs.competition_info import competition_info
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.web.boards import HowMissing
from app.web.experiments import Suite
from app.web.page_data.facts import archived_facts, over_time_facts
from app.web.page_data.formats import PAGE_FORMAT
from app.web.rendering.fill_templates import page

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, PAGE_FORMAT])
Name = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
OFFERED = 500  # names in the form


@router.get("/compare", response_class=HTMLResponse)
def compare_experiments(
    request: Request,
    context: Ctx,
    caller: Anyone,
    a: Name = "",
    b: Name = "",
    suite: Suite = "",
    rate: Rate = "any_medal",
    padding: HowMissing = Padding.AVAILABLE,
) -> Response:
    """Two experiments, paired over competitions; without both names, the form for them."""
    offered, _ = experiments.page(context, None, OFFERED)
    names = [one.name for one in offered]
    form: dict[str, Any] = {
        # Also archived ones and those after the first 500, else the form would forget the choice.
        "names": sorted({*names, *filter(None, (a, b))}), "a": a, "b": b, "suite": suite,
        "rate": rate, "rates": RATES, "padding": padding.value,
        "paddings": [each.value for each in Padding],
        "suites": sorted(context.catalogue.suites()),
    }  # fmt: skip
    if not a or not b or a == b:
        why = "Choose two different experiments." if a and a == b else ""
        return page(
            request, caller, "compare.html", title="Compare", api="/v1/experiments",
            **form, why=why, found=None, archived=(), facts=lambda: {"experiments": names},
        )  # fmt: skip
    query = {"a": a, "b": b, "suite": suite, "rate": rate, "padding": padding.value}
    api = f"/v1/compare?{urlencode({name: value for name, value in query.items() if value})}"
    title = f"{a} and {b}"
    archived = archived_of_experiments(context, [a, b])
    try:
        first, second, found = board.compare(
            context, a, b, ResultFilter(suite or None, padding), rate
        )
    except PodiumError as refusal:  # the form stays, so that the reader can choose again
        return page(
            request, caller, "compare.html", title=title, api="/v1/experiments",
            status=refusal.status, **form, why=refusal.detail, found=None, archived=archived,
        )  # fmt: skip
    rows = _by_competition(first, second, rate)
    info = competition_info(context, {slug for slug, *_ in rows})
    sentence = comparison_sentence(a, b, found, rate)
    return page(
        request, caller, "compare.html", title=title, api=api, **form, why="", found=found,
        missing=EFFECTS[padding.value], contexts=(first, second),
        archived=archived, sentence=sentence, picture_query=f"?{urlencode(query)}",
        rows=rows, with_page={slug for slug, one in info.items() if one.has_board is not None},
        table=lambda: [
            {"competition": slug, "a": a, "a_share": x, "b": b, "b_share": y, "difference": z}
            for slug, x, y, z in rows
        ],
        facts=lambda: {
            **query, "suite": suite or None, "sentence": sentence, **asdict(found),
            "archived": archived_facts(archived),
            **{f"{name}_{what}": count for name, one in (("a", first), ("b", second))
               for what, count in (("seeds", len(one.grid.seeds)), ("missing", len(one.missing)))},
        },
    )  # fmt: skip


def _by_competition(
    a: ResultContext, b: ResultContext, rate: str
) -> list[tuple[str, float, float, float]]:
    """Each competition with both shares in percent and their difference, the greatest first."""
    at = RATES.index(rate)
    ours, theirs = (100.0 * one.grid.shares[:, at] for one in (a, b))
    rows = [
        (slug, float(x), float(y), float(x - y))
        for slug, x, y in zip(a.grid.competitions, ours, theirs, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row[3], row[0]))


@router.get("/experiments/{name}/medals-over-time", response_class=HTMLResponse)
def show_medals_over_time(
    request: Request,
    context: Ctx,
    caller: Anyone,
    name: ExperimentPath,
    axis: Axis = Axis.HOURS,
    suite: Suite = "",
    padding: HowMissing = Padding.FAIL,
) -> Response:
    """Medals after each number of hours, tokens or dollars, under four ways to choose."""
    experiment = f"/v1/experiments/{quote(name, safe='')}"
    query = {"axis": axis.value, "padding": padding.value, "suite": suite}
    chosen = urlencode({name: value for name, value in query.items() if value})
    form: dict[str, Any] = {
        "name": name, "axis": axis.value, "axes": [each.value for each in Axis], "suite": suite,
        "suites": sorted(context.catalogue.suites()), "padding": padding.value,
        "paddings": [each.value for each in Padding],
        "archived": archived_of_experiments(context, [name]), "effect": EFFECTS[padding.value],
    }  # fmt: skip
    title = f"Medals over {axis.value}: {name}"
    experiments.find(context, name)
    try:
        found = medals_over_time.curves(
            context, name, ResultFilter(suite or None, padding), axis, ()
        )
    except PodiumError as refusal:
        return page(
            request, caller, "medals_over_time.html", title=title,
            api=experiment, status=refusal.status, **form,
            why=refusal.detail, found=None,
        )  # fmt: skip
    return page(
        request, caller, "medals_over_time.html", title=title,
        api=f"{experiment}/medals-over-time?{chosen}", **form, why="",
        found=found, picture_query=f"?{chosen}", table=lambda: curves_report(name, found).rows,
        facts=lambda: {
            "experiment": name, "suite": suite or None, **over_time_facts(found),
            "archived": archived_facts(form["archived"]),
        },
    )  # fmt: skip
