"""MLE-bench's in-container checker: the two paths that `validate_submission.sh` calls."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from app.api.dependencies import Anyone, Ctx
from app.api.http.problems import responses
from app.api.http.upload import receive_file_part
from app.domain.verdict import Verdict
from app.kaggle_api.deps import run_of
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions import submit, validate
from app.storage.database.records import RunRecord

router = APIRouter(tags=["MLE-bench's checker"])
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


class Result(BaseModel):
    """The verdict on a file, as a sentence."""

    result: str


class Health(BaseModel):
    """The answer that the service runs."""

    status: str


@router.post(
    "/validate",
    response_model=Result,
    responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 507),
    openapi_extra=FILE_BODY,
)
async def check(request: Request, context: Ctx, caller: Anyone) -> Any:
    """Check a file's form for the run of this key; nothing is stored."""
    run = await run_in_threadpool(_open_run, context, caller)
    upload = await run_in_threadpool(context.blobs.new_upload)
    try:
        await receive_file_part(request, "file", upload, context.settings.max_upload_bytes)
        future = await run_in_threadpool(validate.start, context, run, upload.close())
        found = await asyncio.wrap_future(future)
    finally:
        upload.discard()
    verdict = await run_in_threadpool(validate.finish, context, caller, run, found)
    return {"result": _words(verdict)}


@router.get("/health", response_model=Health, responses=responses())
async def health() -> Any:
    """Say that the service runs."""
    return {"status": "running"}


def _open_run(context: Context, caller: Caller) -> RunRecord:
    return submit.open_run(context, caller, run_of(context, caller).id)


def _words(verdict: Verdict) -> str:
    if verdict.is_valid:
        return "Submission is valid."
    return "Submission invalid! " + "; ".join(v.message for v in verdict.violations) + "."
