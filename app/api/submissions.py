"""Submissions: send, look at, validate, choose."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import FileResponse

from app.api import present
from app.api.bodies import Selection
from app.api.dependencies import Anyone, Ctx, Cursor, Id, Key, Limit
from app.api.files import leased_file
from app.api.problems import responses
from app.api.schemas import Page, RunOut, SubmissionOut, VerdictOut
from app.api.threads import in_thread
from app.api.upload import CSV_BODY, receive_blob, receive_csv, small_body
from app.errors import BadRequest
from app.instruments import RECEIVED
from app.services import disclose, reported_scores, runs, submit, validate
from app.services.submit import Offer

router = APIRouter(prefix="/v1", tags=["submissions"])
MAX_WAIT_SECONDS = 60.0
PREFER_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", re.IGNORECASE)
LOCATION = {"Location": {"schema": {"type": "string"}, "description": "the submission's address"}}

IdempotencyKey = Annotated[
    str | None,
    Header(max_length=255, description="same key and bytes: the same submission; once per file"),
]
Prefer = Annotated[
    str | None, Header(description="`wait=N`: answer when graded, or after N seconds (up to 60)")
]
Message = Annotated[
    str | None, Header(max_length=500, alias="X-Podium-Message", description="a note to keep")
]


@router.post(
    "/runs/{run_id}/submissions",
    status_code=202,
    response_model=SubmissionOut,
    responses={
        200: {"model": SubmissionOut, "description": "Sent before: the same submission"},
        201: {"model": SubmissionOut, "description": "Stored and settled", "headers": LOCATION},
        202: {"model": SubmissionOut, "description": "Stored, to be graded", "headers": LOCATION},
        **responses(400, 401, 404, 409, 413, 415, 422, 429, 507),
    },
    openapi_extra=CSV_BODY,
)
async def send_submission(
    request: Request,
    response: Response,
    context: Ctx,
    key: Key,
    run_id: Id,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
    message: Message = None,
) -> Any:
    """Send a submission. It and its row are on disk, synced, before this is answered."""
    offer = Offer(_printable(message), idempotency_key)
    body = await small_body(request, context.settings.max_upload_bytes)
    if body is not None:
        caller, run, blob = await in_thread(submit.admit_file, context, key, run_id, body)
    else:
        caller, run = await in_thread(submit.admit, context, key, run_id)
        blob = await receive_blob(request, context.blobs, context.settings.max_upload_bytes)
    submission_id = submit.new_submission_id()
    with context.announcements.expect(submission_id) as settled:
        stored = await asyncio.wrap_future(submit.store(context, run, submission_id, blob, offer))
        if stored.created:
            RECEIVED.inc()
            request.app.state.worker.wake()
            await _wait(settled, prefer, response)
    if stored.created and not settled.is_set():
        shown = disclose.show_new(context, caller, run, stored.submission)
    else:
        shown = await in_thread(disclose.show, context, caller, stored.submission.id)
    response.headers["Location"] = f"/v1/submissions/{stored.submission.id}"
    is_settled = shown.submission.state.is_settled
    response.status_code = 200 if not stored.created else 201 if is_settled else 202
    return present.submission(context, shown)


@router.get(
    "/runs/{run_id}/submissions",
    response_model=Page[SubmissionOut],
    responses=responses(401, 404, 422),
)
def list_submissions(
    context: Ctx, caller: Anyone, run_id: Id, limit: Limit = 100, cursor: Cursor = None
) -> Any:
    """The run's submissions, oldest first."""
    run = runs.find(context, caller, run_id)
    found, after = disclose.page(context, caller, run, cursor, limit)
    return {"items": [present.submission(context, one) for one in found], "next_cursor": after}


@router.get(
    "/submissions/{submission_id}",
    response_model=SubmissionOut,
    responses=responses(401, 404, 422),
)
def show_submission(context: Ctx, caller: Anyone, submission_id: Id) -> Any:
    """One submission, with as much of its grade as the run's policy allows this key."""
    return present.submission(context, disclose.show(context, caller, submission_id))


@router.get(
    "/submissions/{submission_id}/file",
    response_class=FileResponse,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        206: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        416: {"description": "No such range", "content": {"text/plain": {}}},
        **responses(400, 401, 404, 422),
    },
)
def submission_file(context: Ctx, caller: Anyone, submission_id: Id) -> FileResponse:
    """The bytes that were graded: as sent, unpacked."""
    shown = disclose.show(context, caller, submission_id).submission
    lease = context.blobs.lease(shown.sha256)
    return leased_file(
        lease, shown.sha256, shown.received_at, media_type="text/csv", filename=f"{shown.id}.csv"
    )


@router.post(
    "/runs/{run_id}/validate",
    response_model=VerdictOut,
    responses=responses(400, 401, 404, 409, 413, 415, 422, 507),
    openapi_extra=CSV_BODY,
)
async def validate_file(request: Request, context: Ctx, key: Key, run_id: Id) -> Any:
    """Check a file's form against the declared schema and the public ids; nothing is stored."""
    caller, run = await in_thread(submit.admit, context, key, run_id)
    upload = await in_thread(context.blobs.new_upload)
    try:
        await receive_csv(request, upload, context.settings.max_upload_bytes)
        future = await in_thread(validate.start, context, run, upload.close())
        found = await asyncio.wrap_future(future)
    finally:
        upload.discard()
    verdict = await in_thread(validate.settle, context, caller, run, found)
    return present.verdict(verdict)


@router.put(
    "/runs/{run_id}/selected",
    response_model=RunOut,
    responses=responses(401, 404, 409, 422),
)
def select_submission(context: Ctx, caller: Anyone, run_id: Id, body: Selection) -> Any:
    """Choose the run's final submission; without a choice the last valid one is final."""
    chosen = runs.select(context, caller, run_id, body.submission)
    return present.run(context, chosen, reported_scores.outside(context, caller, [run_id])[run_id])


async def _wait(settled: asyncio.Event, prefer: str | None, response: Response) -> None:
    """Wait as long as the client prefers: no thread is held, and no transaction."""
    asked = PREFER_WAIT.search(prefer or "")
    if asked is None:
        return
    seconds = min(float(asked.group(1)), MAX_WAIT_SECONDS)
    response.headers["Preference-Applied"] = f"wait={seconds:g}"
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(settled.wait(), seconds)


def _printable(message: str | None) -> str:
    if message is None:
        return ""
    if not message.isprintable():
        raise BadRequest("X-Podium-Message holds control characters.")
    return message
