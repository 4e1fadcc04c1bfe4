"""Results of experiments: medal rates, pass@k, comparisons, item tables."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import AfterValidator, BeforeValidator

from app.api.dependencies import FOR_RESEARCHERS, Archived, Ctx, ExperimentPath, Slug
from app.api.http.negotiation import NON_JSON_RESPONSES, answer
from app.api.http.problems import responses
from app.api.schemas.items import ItemsOut
from app.api.schemas.results import (
    ComparisonOut,
    CompetitionResultsOut,
    CurvesOut,
    MedalRatesOut,
    PassAtKOut,
    SimultaneousOut,
)
from app.domain.result_choices import Axis, Excluded, GroupBy, Padding, Reviews
from app.errors import Invalid
from app.reports.comparisons import (
    comparison_report,
    pass_at_k_report,
    simultaneous_report,
)
from app.reports.competition_results import competition_report
from app.reports.items import items_report
from app.reports.medal_rates import medal_rates_report
from app.reports.medals_over_time import curves_report
from app.services.results import board, competition_results, experiment_results, medals_over_time
from app.services.results.inputs.scope import ResultFilter
from app.services.results.noise.experiment_noise import noise_of
from app.storage.queries.regrades.in_force import NO_TIME, Basis, in_range

router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])
ANSWERS: dict[int | str, dict[str, Any]] = {
    **NON_JSON_RESPONSES,
    **responses(401, 403, 404, 406, 409, 422),
}
ExperimentName = Annotated[str | None, Query(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
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
Flags = Annotated[
    str,
    Query(
        max_length=500,
        pattern=r"^[a-z0-9_, ]*$",
        description="codes of flags, separated by commas; one that no competition has is refused",
    ),
]
ConventionName = Literal[
    "not-better", "mle-dojo-paper", "mle-dojo-code", "strictly-beaten", "mid-rank"
]
PercentileConvention = Annotated[
    ConventionName, Query(description="the convention of the percentiles")
]
SuiteName = Annotated[
    str | None,
    Query(
        max_length=100,
        pattern=r"^[^\x00]*$",
        description="without it: the competitions of its runs",
    ),
]
HowExcluded = Annotated[
    Excluded, Query(description="leave flagged competitions out, or count failures there")
]


def _written_time(text: str) -> str:
    if text[4:5] != "-":  # Pydantic takes a number for seconds since 1970: 20260501 is in that year
        raise ValueError(NO_TIME)
    return text


AsOf = Annotated[
    Annotated[datetime, BeforeValidator(_written_time), AfterValidator(in_range)] | None,
    Query(
        description="the results as they were at this time, with the regrades in force then "
        "(2026-05-01T12:00:00Z); without it: now"
    ),
]
HowReviewed = Annotated[
    Reviews, Query(description="leave runs out that reviews exclude, or count them")
]
Group = Annotated[GroupBy | None, Query(description="rates also for each group of this kind")]


Experiments = Annotated[
    list[str],
    Query(
        max_length=1000,
        description="only these experiments: names separated by commas, or the parameter "
        "several times",
    ),
]


async def scope(
    suite: SuiteName = None,
    padding: Annotated[
        Padding, Query(description="how a (competition, seed) without a result counts")
    ] = Padding.NONE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    archived: Archived = False,
    as_of: AsOf = None,
    reviews: HowReviewed = Reviews.APPLY,
) -> ResultFilter:
    """The attempts that count, and how."""
    return filter_of(suite, padding, exclude_flags, excluded, archived, as_of, reviews)


def filter_of(
    suite: str | None,
    padding: Padding,
    exclude_flags: str,
    excluded: Excluded,
    archived: bool,
    as_of: datetime | None = None,
    reviews: Reviews = Reviews.APPLY,
) -> ResultFilter:
    """The attempts that count, of the values of a query; flags are separated by commas."""
    flags = tuple(sorted({flag.strip() for flag in exclude_flags.split(",") if flag.strip()}))
    basis = Basis(as_of=as_of)
    return ResultFilter(suite or None, padding, flags, excluded, archived, basis, reviews)


InScope = Annotated[ResultFilter, Depends(scope)]


@router.get("/experiments/{name}/medal-rates", response_model=MedalRatesOut, responses=ANSWERS)
def show_medal_rates(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    scope: InScope,
    group_by: Group = None,
) -> Any:
    """The share of attempts that won each medal: mean, SEM and intervals, in percent."""
    found, groups = experiment_results.medal_rates(context, name, scope, group_by)
    return answer(request, medal_rates_report(found, groups, group_by, noise_of(context, found)))


@router.get("/experiments/{name}/pass-at-k", response_model=PassAtKOut, responses=ANSWERS)
def show_pass_at_k(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    scope: InScope,
    k: Annotated[str, Query(pattern=r"^[0-9]{1,6}(,[0-9]{1,6})*$", max_length=500)] = "1",
    rate: Rate = "any_medal",
) -> Any:
    """The chance that the best of k attempts is a success; k is one or several numbers."""
    ks = tuple(sorted({int(each) for each in k.split(",")}))
    counted, found, public = experiment_results.pass_at_k(context, name, scope, ks, rate)
    return answer(request, pass_at_k_report(counted, found, rate, public))


@router.get("/compare", response_model=ComparisonOut | SimultaneousOut, responses=ANSWERS)
def compare_experiments(
    request: Request,
    context: Ctx,
    scope: InScope,
    a: ExperimentName = None,
    b: ExperimentName = None,
    experiments: Experiments = [],  # noqa: B006
    rate: Rate = "any_medal",
) -> Any:
    """Two experiments (a and b), or all pairs of several, paired over competitions."""
    if experiments:
        if a is not None or b is not None:
            raise Invalid("Give either a and b, or experiments.")
        found = board.compare_many(context, experiments, scope, rate)
        return answer(request, simultaneous_report(*found, rate))
    if a is None or b is None:
        raise Invalid("Give a and b, or experiments=A,B,C.")
    return answer(request, comparison_report(*board.compare(context, a, b, scope, rate), rate))


@router.get("/experiments/{name}/medals-over-time", response_model=CurvesOut, responses=ANSWERS)
def show_medals_over_time(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    scope: InScope,
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
    found = medals_over_time.curves(context, name, scope, axis, moments)
    return answer(request, curves_report(name, found))


@router.get("/competitions/{slug}/results", response_model=CompetitionResultsOut, responses=ANSWERS)
def show_competition_results(
    request: Request,
    context: Ctx,
    slug: Slug,
    percentile: PercentileConvention = "not-better",
    archived: Archived = False,
) -> Any:
    """All attempts at a competition, by experiment and seed."""
    found = competition_results.at_competition(context, slug, percentile, archived=archived)
    return answer(request, competition_report(slug, percentile, *found))


@router.get("/suites/{suite_name}/items", response_model=ItemsOut, responses=ANSWERS)
def show_items(
    request: Request,
    context: Ctx,
    suite_name: Annotated[str, Path(max_length=100)],
    padding: Annotated[
        Padding, Query(description="how a (competition, seed) without a result counts")
    ] = Padding.FAIL,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    experiments: Experiments = [],  # noqa: B006
    rate: Rate = "any_medal",
    archived: Archived = False,
    as_of: AsOf = None,
    reviews: HowReviewed = Reviews.APPLY,
) -> Any:
    """How well each competition of a suite separates the experiments with runs at it."""
    chosen = filter_of(suite_name, padding, exclude_flags, excluded, archived, as_of, reviews)
    return answer(
        request, items_report(chosen, *board.items(context, chosen, rate, experiments), rate)
    )
