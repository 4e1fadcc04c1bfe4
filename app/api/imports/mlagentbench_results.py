"""Import of MLAgentBench's results."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from app.api.dependencies import FOR_RESEARCHERS, Ctx, ExperimentPath
from app.api.http.problems import responses
from app.api.imports.receive_report import received_report
from app.services.imports import mlagentbench_results
from app.services.imports.mlagentbench_results import EvaluationFile, ImportedRuns

router = APIRouter(prefix="/v1/experiments", tags=["results"], dependencies=[FOR_RESEARCHERS])
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The JSON that MLAgentBench's evaluation writes for one task.",
        "content": {"application/json": {"schema": {}}},
    }
}


@router.post(
    "/{name}/mlagentbench-results",
    status_code=201,
    response_model=ImportedRuns,
    responses={
        200: {"model": ImportedRuns, "description": "All of it had been imported before"},
        **responses(400, 401, 403, 404, 409, 413, 422),
    },
    openapi_extra=BODY,
)
async def import_results(
    request: Request,
    response: Response,
    context: Ctx,
    name: ExperimentPath,
    competition: Annotated[
        str,
        Query(
            max_length=100,
            pattern=r"^[A-Za-z0-9-]+$",
            description="the competition of the file's task",
        ),
    ],
    seed: Annotated[
        int, Query(ge=-(2**31), le=2**31 - 2**20, description="the seed of the first run")
    ] = 0,
    file: Annotated[
        str,
        Query(
            min_length=1,
            max_length=200,
            pattern=r"^[^\x00-\x1f\x7f]+$",
            description="the file's name, which the evidence keeps",
        ),
    ] = "results.json",
) -> Any:
    """Import one task's evaluated runs; `mismatches` lists contradictions in the file."""
    async with received_report(request) as body:
        imported = await run_in_threadpool(
            mlagentbench_results.import_evaluation,
            context,
            name,
            EvaluationFile(body, file, competition),
            seed=seed,
        )
    response.status_code = 201 if imported.imported else 200
    return imported
