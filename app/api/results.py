"""Results of experiments: medal rates, pass@k, comparisons, item tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request

from app.api.dependencies import FOR_RESEARCHERS, Ctx, Slug
from app.api.http.negotiation import NON_JSON_RESPONSES, answer
from app.api.http.problems import responses
from app.api.schemas.results import (
    BoardOut,
    ComparisonOut,
    CompetitionResultsOut,
    CurvesOut,
    ItemsOut,
    MedalRatesOut,
    PassAtKOut,
)
from app.errors import Invalid
from app.reports.comparisons import comparison_report, items_report, pass_at_k_report
from app.reports.competition_results import competition_report
from app.reports.medal_rates import board_report, medal_rates_report
from app.reports.medals_over_time import curves_report
from app.services.results import competition_results, experiment_results, medals_over_time
from app.services.results.experiment_results import Excluded, GroupBy, ResultFilter
from app.services.results.medals_over_time import Axis
from app.statistics.attempts import Padding

router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])
ANSWERS: dict[int | str, dict[str, Any]] = {
    **NON_JSON_RESPONSES,
    **responses(401, 403, 404, 406, 409, 422),
}
Name = Annotated[str, Path(max_length=200)]
ExperimentName = Annotated[str, Query(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Word = Annotated[str | None, Query(max_length=100, pattern=r"^[^\x00]*$")]
Rate = Annotated[
    Literal[
        "any_medal",
        "gold",
        "silver",
        "bronze",
        "above_median",
        "valid_submission",
        "made_submission",
    ],
    Query(description="the outcome that counts as a success"),
]
Group = Annotated[GroupBy | None, Query(description="rates also for each group of this kind")]


def scope(
    suite: Annotated[
        str | None,
        Query(
            max_length=100,
            pattern=r"^[^\x00]*$",
            description="without it: the competitions of its runs",
        ),
    ] = None,
    padding: Annotated[
        Padding, Query(description="how a (competition, seed) without a result counts")
    ] = Padding.NONE,
    exclude_flags: Annotated[
        str,
        Query(
            max_length=500,
            pattern=r"^[a-z0-9_, ]*$",
            description="codes of flags, separated by commas",
        ),
    ] = "",
    excluded: Annotated[
        Excluded, Query(description="leave flagged competitions out, or count failures there")
    ] = Excluded.DROP,
) -> ResultFilter:
    """The attempts that count, and how."""
    flags = tuple(sorted({flag.strip() for flag in exclude_flags.split(",") if flag.strip()}))
    return ResultFilter(suite or None, padding, flags, excluded)


InScope = Annotated[ResultFilter, Depends(scope)]


@router.get("/experiments/{name}/medal-rates", response_model=MedalRatesOut, responses=ANSWERS)
def show_medal_rates(
    request: Request,
    context: Ctx,
    name: Name,
    scope: InScope,
    group_by: Group = None,
) -> Any:
    """The share of attempts that won each medal: mean, SEM and intervals, in percent."""
    return answer(
        request, medal_rates_report(*experiment_results.medal_rates(context, name, scope, group_by))
    )


@router.get("/medal-rates", response_model=BoardOut, responses=ANSWERS)
def show_board(request: Request, context: Ctx, scope: InScope, group_by: Group = None) -> Any:
    """The medal rates of all experiments, best first, and the experiments without a rate."""
    return answer(
        request, board_report(*experiment_results.experiment_board(context, scope, group_by))
    )


@router.get("/experiments/{name}/pass-at-k", response_model=PassAtKOut, responses=ANSWERS)
def show_pass_at_k(
    request: Request,
    context: Ctx,
    name: Name,
    scope: InScope,
    k: Annotated[str, Query(pattern=r"^[0-9]{1,6}(,[0-9]{1,6})*$", max_length=500)] = "1",
    rate: Rate = "any_medal",
) -> Any:
    """The chance that the best of k attempts is a success; k is one or several numbers."""
    ks = tuple(sorted({int(each) for each in k.split(",")}))
    return answer(
        request,
        pass_at_k_report(*experiment_results.pass_at_k(context, name, scope, ks, rate), rate),
    )


@router.get("/compare", response_model=ComparisonOut, responses=ANSWERS)
def compare_experiments(
    request: Request,
    context: Ctx,
    a: ExperimentName,
    b: ExperimentName,
    scope: InScope,
    rate: Rate = "any_medal",
) -> Any:
    """Two experiments, paired over competitions: the difference a - b and its tests."""
    if a == b:
        raise Invalid("Compare an experiment with another one.")
    return answer(
        request, comparison_report(*experiment_results.compare(context, a, b, scope, rate), rate)
    )


@router.get("/experiments/{name}/medals-over-time", response_model=CurvesOut, responses=ANSWERS)
def show_medals_over_time(
    request: Request,
    context: Ctx,
    name: Name,
    suite: Word = None,
    axis: Axis = Axis.HOURS,
    at: Annotated[
        str,
        Query(
            pattern=r"^([0-9]{1,12}(\.[0-9]{1,6})?(,[0-9]{1,12}(\.[0-9]{1,6})?)*)?$",
            max_length=1000,
            description="moments on the axis, with commas; none: spread evenly",
        ),
    ] = "",
) -> Any:
    """Medals after each number of hours, tokens or dollars, and the regret of each choice."""
    moments = tuple(sorted({float(each) for each in at.split(",") if each}))
    found = medals_over_time.curves(context, name, suite or None, axis, moments)
    return answer(request, curves_report(name, found))


@router.get("/competitions/{slug}/results", response_model=CompetitionResultsOut, responses=ANSWERS)
def show_competition_results(
    request: Request,
    context: Ctx,
    slug: Slug,
    percentile: Annotated[
        Literal["not-better", "mle-dojo-paper", "mle-dojo-code", "strictly-beaten", "mid-rank"],
        Query(description="the convention of the percentiles"),
    ] = "not-better",
) -> Any:
    """All attempts at a competition, by experiment and seed."""
    found = competition_results.at_competition(context, slug, percentile)
    return answer(request, competition_report(slug, percentile, *found))


@router.get("/suites/{suite_name}/items", response_model=ItemsOut, responses=ANSWERS)
def show_items(
    request: Request,
    context: Ctx,
    suite_name: Annotated[str, Path(max_length=100)],
    padding: Padding = Padding.FAIL,
    rate: Rate = "any_medal",
) -> Any:
    """How well each competition of a suite separates the experiments with runs at it."""
    scope = ResultFilter(suite_name, padding)
    return answer(
        request, items_report(scope, *experiment_results.items(context, scope, rate), rate)
    )
