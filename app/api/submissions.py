"""List, show, validate and select submissions. `create_submission` receives them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse

from app.api import serializers
from app.api.dependencies import AlsoHarness, Anyone, Ctx, Cursor, Id, Limit
from app.api.http.body_limit import upload_slot
from app.api.http.file_responses import is_known, leased_file, not_modified
from app.api.http.next_page import page_in_parts
from app.api.http.problems import responses
from app.api.http.threads import run_in_thread
from app.api.http.upload import receive_csv
from app.api.receive_submission import CSV_BODY
from app.api.schemas.requests import Selection
from app.api.schemas.runs import Page, RunOut
from app.api.schemas.submissions import SubmissionOut, VerdictOut
from app.services.experiments import reported_scores, runs
from app.services.submissions import disclose, submit, validate

router = APIRouter(prefix="/v1", tags=["submissions"])
AT_ONCE = 25  # read together: each may have twenty long violations, 36 KB


@router.get(
    "/runs/{run_id}/submissions",
    response_model=Page[SubmissionOut],
    responses=responses(401, 404, 422),
)
def list_submissions(
    context: Ctx, caller: AlsoHarness, run_id: Id, limit: Limit = 100, cursor: Cursor = None
) -> Any:
    """The run's submissions, oldest first.

    A page of more than 1.5 MB has fewer than `limit`: `next_cursor` leads to the rest.
    """
    run = runs.find(context, caller, run_id)

    def read(after: str | None, count: int) -> tuple[list[dict[str, Any]], str | None]:
        found, following = disclose.page(context, caller, run, after, count)
        return [serializers.submission(one) for one in found], following

    return page_in_parts(read, cursor, limit, AT_ONCE)


@router.get(
    "/submissions/{submission_id}",
    response_model=SubmissionOut,
    responses=responses(401, 404, 422),
)
def show_submission(context: Ctx, caller: AlsoHarness, submission_id: Id) -> Any:
    """One submission, with as much of its grade as the run's policy allows this key."""
    return serializers.submission(disclose.show(context, caller, submission_id))


@router.get(
    "/submissions/{submission_id}/file",
    response_class=FileResponse,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        206: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        304: {"description": "The client has this file"},
        **responses(401, 403, 404, 416, 422),
    },
)
async def submission_file(
    request: Request, context: Ctx, caller: Anyone, submission_id: Id
) -> Response:
    """The file that was graded: as sent, decompressed."""
    found = await run_in_threadpool(disclose.show, context, caller, submission_id)
    shown = found.submission
    if is_known(request, shown.sha256, shown.received_at):
        return not_modified(shown.sha256)
    return await leased_file(
        request,
        partial(submit.verified_file, context, shown),
        shown.sha256,
        shown.received_at,
        media_type="text/csv",
        filename=f"{shown.id}.csv",
    )


@router.post(
    "/runs/{run_id}/validate",
    response_model=VerdictOut,
    responses=responses(400, 401, 404, 409, 413, 415, 422, 429, 507),
    openapi_extra=CSV_BODY,
)
async def validate_file(request: Request, context: Ctx, caller: AlsoHarness, run_id: Id) -> Any:
    """Check a file's form against the declared schema and the public ids; nothing is stored."""
    run = await run_in_thread(submit.open_run, context, caller, run_id)
    await run_in_thread(validate.refuse_beyond_bound, context, caller, run)
    async with upload_slot(request.scope, caller.key_id, is_run=caller.is_run):
        upload = await run_in_thread(context.blobs.new_upload)
        try:
            await receive_csv(request, upload, context.settings.max_upload_bytes)
            future = await run_in_thread(validate.start, context, run, upload.close())
            found = await asyncio.wrap_future(future)
        finally:
            upload.discard()
    verdict = await run_in_thread(validate.finish, context, caller, run, found)
    return serializers.verdict(verdict)


@router.put(
    "/runs/{run_id}/selected",
    response_model=RunOut,
    responses=responses(401, 403, 404, 409, 422),
)
def select_submission(context: Ctx, caller: Anyone, run_id: Id, body: Selection) -> Any:
    """Select the run's final submission; otherwise the last valid one is final."""
    chosen = runs.select(context, caller, run_id, body.submission)
    return serializers.run(
        context, chosen, reported_scores.external_info(context, caller, [run_id])[run_id]
    )
