"""Send a submission: the most frequent request, so it must be fast."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic_core import to_json

from app.api import serializers
from app.api.dependencies import KEY_SCHEME, sent_key
from app.api.http.problems import responses
from app.api.http.raw_route import RawRoute
from app.api.http.threads import run_in_thread
from app.api.http.upload import CSV_BODY, received_upload, small_body
from app.api.schemas.submissions import SubmissionOut
from app.errors import BadRequest, Invalid
from app.prometheus_metrics import RECEIVED
from app.services.runtime.context import Context
from app.services.submissions import disclose, quotas, submit
from app.services.submissions.batch_receiver import (
    BatchReceiver,
    IncomingSubmission,
    StoredSubmission,
)
from app.services.submissions.submit import SubmissionMeta

router = APIRouter(prefix="/v1", tags=["submissions"], route_class=RawRoute)
MAX_WAIT_SECONDS = 60.0
PREFER_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", re.IGNORECASE)
RUN_ID = re.compile(r"[a-z0-9_]{1,64}")
LONGEST_KEY = 255
LONGEST_MESSAGE = 500
LOCATION = {"Location": {"schema": {"type": "string"}, "description": "the path of the submission"}}


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "name": name, "in": "header", "required": False, "description": description,
        "schema": {"type": "string", **schema},
    }  # fmt: skip


PARAMETERS = [
    {
        "name": "run_id", "in": "path", "required": True,
        "schema": {"type": "string", "maxLength": 64, "pattern": "^[a-z0-9_]+$"},
    },
    _header("idempotency-key", "the same key and bytes return the same submission; once per file",
            maxLength=LONGEST_KEY),
    _header("prefer", "`wait=N`: answer when it is settled, or after N seconds (at most 60)"),
    _header("X-Podium-Message", "a note to store", maxLength=LONGEST_MESSAGE),
]  # fmt: skip


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
    openapi_extra={**CSV_BODY, "parameters": PARAMETERS, "security": [{KEY_SCHEME: []}]},
)
async def send_submission(request: Request) -> Response:
    """Send a submission. Its file and its row are synced to disk before the answer."""
    context: Context = request.app.state.context
    run_id, meta, wait = _run_id(request), _submission_meta(request), _wait_seconds(request)
    submission_id = submit.new_submission_id()
    with context.notifications.subscribe(submission_id) as settled:
        stored_submission = await _store(request, context, run_id, submission_id, meta)
        received, caller = stored_submission.received, stored_submission.caller
        # The policy `none` shows no state, so there is nothing to wait for.
        waits = not caller.is_run or stored_submission.run.feedback.shows_state
        if received.created:
            RECEIVED.inc()
            request.app.state.worker.wake()
            if wait is not None and waits:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(settled.wait(), wait)
    stored = received.submission
    if received.created and not settled.is_set():
        shown = disclose.show_new(context, caller, stored_submission.run, stored)
    else:
        shown = await run_in_thread(disclose.show, context, caller, stored.id)
    headers = {"Location": f"/v1/submissions/{stored.id}"}
    if wait is not None and received.created and waits:
        headers["Preference-Applied"] = f"wait={wait:g}"
    is_settled = waits and shown.submission.state.is_settled
    status = 200 if not received.created else 201 if is_settled else 202
    # No model validates this document; tests compare it with the declared one.
    document = to_json(serializers.submission(context, shown))
    return Response(document, status, headers, "application/json")


async def _store(
    request: Request, context: Context, run_id: str, submission_id: str, meta: SubmissionMeta
) -> StoredSubmission:
    """Store the submission: a small one together with others, a large one alone."""
    key, limit = sent_key(request), context.settings.max_upload_bytes
    data = await small_body(request, limit)
    receiver: BatchReceiver | None = request.app.state.batch_receiver
    if data is not None and receiver is not None:
        incoming = IncomingSubmission(submission_id, run_id, key, data, meta)
        return await asyncio.wrap_future(receiver.receive(incoming))
    caller, run = await run_in_thread(submit.admit, context, key, run_id)
    if data is not None:
        digest = hashlib.sha256(data).hexdigest()
        put = functools.partial(context.blobs.put, data)
        received = await submit.store_bytes(context, run, submission_id, digest, put, meta)
        return StoredSubmission(caller, run, received)
    if meta.idempotency_key is None:  # a file that was sent before is answered beyond the quota too
        await run_in_thread(quotas.refuse_unstorable, context, run)
    async with received_upload(request, context.blobs, limit) as upload:
        received = await submit.store_bytes(
            context, run, submission_id, upload.digest(), upload.finish, meta
        )
    return StoredSubmission(caller, run, received)


def _run_id(request: Request) -> str:
    found: str = request.path_params["run_id"]
    if not RUN_ID.fullmatch(found):
        raise Invalid("path.run_id: a run's id has at most 64 characters of a-z, 0-9 and _.")
    return found


def _submission_meta(request: Request) -> SubmissionMeta:
    key = request.headers.get("Idempotency-Key")
    if key is not None and len(key) > LONGEST_KEY:
        raise Invalid(f"header.Idempotency-Key: it has more than {LONGEST_KEY} characters.")
    message = request.headers.get("X-Podium-Message", "")
    if len(message) > LONGEST_MESSAGE:
        raise Invalid(f"header.X-Podium-Message: it has more than {LONGEST_MESSAGE} characters.")
    if not message.isprintable():
        raise BadRequest("X-Podium-Message holds control characters.")
    return SubmissionMeta(message, key)


def _wait_seconds(request: Request) -> float | None:
    """How long the client wants to wait for the grade: without a thread or transaction."""
    found = PREFER_WAIT.search(request.headers.get("Prefer", ""))
    return None if found is None else min(float(found.group(1)), MAX_WAIT_SECONDS)
