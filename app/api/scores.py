"""Summaries of scores: where medals saturate, percentiles still tell experiments apart."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from app.api.dependencies import FOR_RESEARCHERS, Ctx
from app.api.http.negotiation import answer
from app.api.results import ANSWERS, ExperimentName, InScope, Name, PercentileConvention
from app.api.schemas.scores import ScoresOut
from app.reports.score_summaries import scores_report
from app.services.results import score_summaries

router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])


@router.get("/experiments/{name}/scores", response_model=ScoresOut, responses=ANSWERS)
def show_scores(
    request: Request,
    context: Ctx,
    name: Name,
    scope: InScope,
    percentile: PercentileConvention = "mid-rank",
    target: Annotated[
        float, Query(ge=0, le=100, description="the percentile of the optimality gap")
    ] = 100.0,
    against: ExperimentName = None,
) -> Any:
    """Percentiles of an experiment: mean, median, IQM, optimality gap, profile, P(better)."""
    found = score_summaries.scores(
        context, name, scope, convention=percentile, target=target, against=against
    )
    return answer(request, scores_report(found))
