"""Success against baselines: rates, outcomes of runs, and a run's trajectory."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import TypeAdapter

from app.api.dependencies import FOR_RESEARCHERS, Archived, Ctx, ExperimentPath, Id
from app.api.http.negotiation import answer, answer_in_parts
from app.api.results import ANSWERS, Flags, HowExcluded, SuiteName, filter_of
from app.api.schemas.success import OutcomeOut, OutcomesOut, SuccessRatesOut, TrajectoryOut
from app.domain.result_choices import Baselines, Excluded, Padding, SuccessGroupBy
from app.reports.run_outcomes import outcomes_report, trajectory_report
from app.reports.success_rates import success_report
from app.services.results import run_outcomes, success_rates, trajectory
from app.services.results.inputs.scope import ResultFilter
from app.services.results.success_rates import SuccessScope

router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])
OUTCOMES = TypeAdapter(list[OutcomeOut])
Threshold = Annotated[
    float | None,
    Query(
        gt=0,
        le=1000,
        allow_inf_nan=False,
        description="a success improves on the baseline by more than this share of it; "
        "without it: each baseline's own threshold",
    ),
]
Starter = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",
        description="an experiment of the starter code: the mean of its final scores is the "
        "baseline where a competition declares none",
    ),
]


async def lenient_scope(
    suite: SuiteName = None,
    padding: Annotated[
        Padding,
        Query(
            description="how competitions without a run and runs without a result count: "
            "left out and listed (complete), failures (fail), or refused (none)"
        ),
    ] = Padding.COMPLETE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    archived: Archived = False,
) -> ResultFilter:
    """The runs that count, and how; by default without competitions that have no run."""
    return filter_of(suite, padding, exclude_flags, excluded, archived)


@router.get("/experiments/{name}/success-rates", response_model=SuccessRatesOut, responses=ANSWERS)
def show_success_rates(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    scope: Annotated[ResultFilter, Depends(lenient_scope)],
    threshold: Threshold = None,
    group_by: Annotated[
        SuccessGroupBy | None, Query(description="rates also for each group of this kind")
    ] = None,
    baselines: Annotated[
        Baselines, Query(description="runs without a known baseline: refused, or left out")
    ] = Baselines.REQUIRED,
    starter: Starter = None,
) -> Any:
    """The share of runs that beat their baseline, their improvement, and their cost."""
    asked = SuccessScope(scope, threshold, baselines, starter)
    return answer(request, success_report(success_rates.success(context, name, asked, group_by)))


@router.get("/experiments/{name}/outcomes", response_model=OutcomesOut, responses=ANSWERS)
def show_outcomes(
    request: Request,
    context: Ctx,
    name: ExperimentPath,
    threshold: Threshold = None,
    starter: Starter = None,
    archived: Archived = False,
) -> Any:
    """Each run's final and best score against its baseline, and its usage."""
    others = run_outcomes.starter_baselines(context, starter) if starter else {}
    found = run_outcomes.outcomes_of(context, name, threshold, others, archived=archived)
    return answer_in_parts(request, outcomes_report(name, threshold, found), OUTCOMES)


@router.get("/runs/{run_id}/trajectory", response_model=TrajectoryOut, responses=ANSWERS)
def show_trajectory(request: Request, context: Ctx, run_id: Id, threshold: Threshold = None) -> Any:
    """A run's scores in order: the final one against the best, and success at any step."""
    return answer(request, trajectory_report(trajectory.trajectory(context, run_id, threshold)))
