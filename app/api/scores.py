"""Summaries of scores, where medals saturate; and planning, before an experiment is paid for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from app.api.dependencies import FOR_RESEARCHERS, Ctx, ExperimentPath
from app.api.http.negotiation import answer
from app.api.results import (
    ANSWERS,
    ConventionName,
    ExperimentName,
    Experiments,
    InScope,
    PercentileConvention,
    Rate,
)
from app.api.schemas.scores import PlanOut, ScaleName, ScoresOut, SelectionOut, SensitivityOut
from app.errors import Invalid
from app.reports.planning import plan_report
from app.reports.score_summaries import scores_report
from app.reports.selection import selection_report
from app.reports.sensitivity import sensitivity_report
from app.services.results import planning, sensitivity
from app.services.results.choice.selection import selection
from app.services.results.scores import score_summaries
from app.statistics.planning import Spread

Numbers = Annotated[str, Query(pattern=r"^[0-9]{1,6}(,[0-9]{1,6})*$", max_length=200)]
Points = Annotated[float | None, Query(ge=0, le=100, allow_inf_nan=False)]
Scale = Annotated[ScaleName, Query(description="the scale of the scores")]
MaybeConvention = Annotated[
    ConventionName | None,
    Query(description="the convention of the percentiles; mid-rank if none is named"),
]
Target = Annotated[
    float | None,
    Query(
        ge=-100, le=100, allow_inf_nan=False,
        description="the score of the optimality gap: 100 for percentiles, 1 on the other scales",
    ),
]  # fmt: skip
router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])


@router.get("/experiments/{name}/scores", response_model=ScoresOut, responses=ANSWERS)
def show_scores(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    scope: InScope,
    scale: Scale = "percentile",
    percentile: MaybeConvention = None,
    target: Target = None,
    against: ExperimentName = None,
) -> Any:
    """Scores of an experiment on one scale: mean, median, IQM, optimality gap, profile, P(better).

    A scale is the percentile among the human teams, or a normalised score.
    """
    found = score_summaries.scores(
        context, name, scope,
        scale=scale, convention=percentile, target=target, against=against,
    )  # fmt: skip
    return answer(request, scores_report(found))


@router.get("/experiments/{name}/selection", response_model=SelectionOut, responses=ANSWERS)
def show_selection(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    scope: InScope,
    percentile: PercentileConvention = "mid-rank",
) -> Any:
    """The loss of medals and percentiles by the choice of final submissions, and the shake-up."""
    return answer(request, selection_report(selection(context, name, scope, percentile)))


@router.get("/plan", response_model=PlanOut, responses=ANSWERS)
def show_plan(
    request: Request,
    context: Ctx,
    scope: InScope,
    experiments: Experiments = [],  # noqa: B006
    between: Points = None,
    within: Points = None,
    competitions: Numbers | None = None,
    seeds: Numbers = "1,2,3,5,8,16",
    power: Annotated[float, Query(ge=0.1, le=0.99)] = 0.8,
    rate: Rate = "any_medal",
) -> Any:
    """The differences that can be detected, with the spreads of two experiments or stated ones."""
    if (between is None) != (within is None) or (between is not None and experiments):
        raise Invalid("Give either two experiments, or between and within together.")
    counts = [int(each) for each in competitions.split(",")] if competitions else []
    numbers = [int(each) for each in seeds.split(",")]
    if between is not None and within is not None:
        spread = Spread(between, within)
        found = planning.from_spread(spread, counts, numbers, power=power, rate=rate)
    else:
        found = planning.from_experiments(
            context, experiments, scope, counts, numbers, power=power, rate=rate
        )
    return answer(request, plan_report(found))


@router.get("/experiments/{name}/sensitivity", response_model=SensitivityOut, responses=ANSWERS)
def show_sensitivity(
    request: Request, context: Ctx, name: ExperimentPath, scope: InScope, rate: Rate = "any_medal"
) -> Any:
    """A rate without each flag and each competition, and with each padding."""
    return answer(request, sensitivity_report(sensitivity.sensitivity(context, name, scope, rate)))
