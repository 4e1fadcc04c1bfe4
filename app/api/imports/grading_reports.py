"""Import and export of MLE-bench's grading reports."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from app.api.dependencies import FOR_RESEARCHERS, Ctx, ExperimentPath
from app.api.http.problems import responses
from app.api.imports.receive_report import received_report
from app.domain.states import LARGEST_SEED, LEAST_SEED
from app.services.imports import grading_reports
from app.services.imports.grading_reports import ImportedReports, ReportSource
from app.services.results import exported_report

router = APIRouter(prefix="/v1/experiments", tags=["results"], dependencies=[FOR_RESEARCHERS])
ImportedSeed = Annotated[int, Query(ge=0, le=LARGEST_SEED, description="the seed of these results")]
Seed = Annotated[  # of a run, which may have a negative one
    int, Query(ge=LEAST_SEED, le=LARGEST_SEED, description="the seed of these results")
]
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A grading_report.json of MLE-bench.",
        "content": {"application/json": {"schema": {}}},
    }
}


@router.post(
    "/{name}/grading-reports",
    status_code=201,
    response_model=ImportedReports,
    responses={
        200: {"model": ImportedReports, "description": "All of it had been imported before"},
        **responses(400, 401, 403, 404, 409, 413, 422),
    },
    openapi_extra=BODY,
)
async def import_report(
    request: Request,
    response: Response,
    context: Ctx,
    name: ExperimentPath,
    seed: ImportedSeed = 0,
    repeats: Annotated[
        Literal["refuse", "seeds"],
        Query(description="a repeated competition: refuse the report, or use the next seed"),
    ] = "refuse",
) -> Any:
    """Import a grading report; `mismatches` lists its differences from Podium's count."""
    async with received_report(request) as body:
        imported = await run_in_threadpool(
            grading_reports.import_reports,
            context,
            name,
            [ReportSource(body)],
            seed=seed,
            repeats=repeats == "seeds",
        )
    response.status_code = 201 if imported.imported else 200
    return imported


@router.get(
    "/{name}/grading-report",
    response_class=Response,
    responses={
        200: {"content": {"application/json": {"schema": {"type": "object"}}}},
        **responses(401, 403, 404, 422),
    },
)
def export_report(context: Ctx, name: ExperimentPath, seed: Seed = 0) -> Response:
    """The results of one seed as MLE-bench writes them: a grading_report.json."""
    document = exported_report.export_report(context, name, seed)
    return Response(json.dumps(document, indent=2), media_type="application/json")
