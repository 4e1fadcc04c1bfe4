"""MLE-bench's in-container checker: the two paths that `validate_submission.sh` calls.

MLEvolve calls the same paths: it names its competition in the header `exp-id`, and reads
`is_valid` of a verdict, `error` and `details` of an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.api.dependencies import Anyone, Ctx
from app.api.http.body_limit import upload_slot
from app.api.http.openapi import form_with_file
from app.api.http.problems import detail_for, internal_error, responses
from app.api.http.unexpected_errors import of_the_system
from app.api.http.upload import receive_file_part
from app.domain.verdict import Verdict
from app.errors import BadRequest, PodiumError
from app.kaggle_api.deps import run_of
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions import submit, validate
from app.storage.database.records import RunRecord


class CheckerRoute(APIRoute):
    """A route whose problem documents also have `error` (the title) and `details`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The usual handler, with these fields in its errors."""
        usual = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await usual(request)
            except (RequestValidationError, HTTPException, ClientDisconnect):
                raise
            except Exception as error:
                known = error if isinstance(error, PodiumError) else of_the_system(error)
                if known is not None and known.status != HTTPStatus.INTERNAL_SERVER_ERROR:
                    detail = detail_for(request, known)
                    known.extensions |= {"error": known.title(), "details": detail}
                    raise known from (None if known is error else error)
                fields = {
                    "error": PodiumError.title(),
                    "details": "This is Podium's fault, not the file's.",
                }
                return await internal_error(request, error, fields)

        return handler


router = APIRouter(tags=["MLE-bench's checker"], route_class=CheckerRoute)
FILE_BODY = {"requestBody": {"required": True, "content": form_with_file("file")}}


ExpId = Annotated[
    str | None,
    Header(alias="exp-id", max_length=100, description="the competition that the caller expects"),
]


class JsonLine(JSONResponse):
    """JSON with a line feed at the end, like Flask's, because agents read it in a terminal."""

    def render(self, content: Any) -> bytes:
        """The content as one line."""
        return super().render(content) + b"\n"


class Result(BaseModel):
    """The verdict on a file: as a sentence, and as MLEvolve reads it."""

    result: str
    is_valid: bool = Field(description="whether the file is a valid submission")


class Health(BaseModel):
    """The answer that the service runs."""

    status: str


@router.post(
    "/validate",
    response_model=Result,
    response_class=JsonLine,
    responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 507),
    openapi_extra=FILE_BODY,
)
async def check(request: Request, context: Ctx, caller: Anyone, exp_id: ExpId = None) -> Any:
    """Check a file's form for the run of this key; nothing is stored.

    Errors have `error` (their title) and `details` in addition to the fields of a problem document.
    """
    run = await run_in_threadpool(_open_run, context, caller)
    if exp_id is not None and exp_id != run.competition:
        raise BadRequest(
            f"This key's run is at the competition {run.competition}; the header exp-id names "
            f"{exp_id!r}. Use the key of a run at that competition."
        )
    await run_in_threadpool(validate.refuse_beyond_bound, context, caller, run)
    async with upload_slot(request.scope, caller.key_id, is_run=True):
        upload = await run_in_threadpool(context.blobs.new_upload)
        try:
            await receive_file_part(request, "file", upload, context.settings.max_upload_bytes)
            future = await run_in_threadpool(validate.start, context, run, upload.close())
            found = await asyncio.wrap_future(future)
        finally:
            upload.discard()
    verdict = await run_in_threadpool(validate.finish, context, caller, run, found)
    return {"result": _words(verdict), "is_valid": verdict.is_valid}


@router.get("/health", response_model=Health, response_class=JsonLine, responses=responses())
async def health() -> Any:
    """Say that the service runs."""
    return {"status": "running"}


def _open_run(context: Context, caller: Caller) -> RunRecord:
    return submit.open_run(context, caller, run_of(context, caller).id)


def _words(verdict: Verdict) -> str:
    if verdict.is_valid:
        return "Submission is valid."
    return "Submission invalid! " + "; ".join(v.message for v in verdict.violations) + "."
