"""Send a submission: the most frequent request, so it must be fast.

Its route has none of FastAPI's dependencies. `openapi_extra` and `responses` describe parameters
and answers; tests compare them with real answers.

Why: docs/decisions/0022-routes-without-dependencies.md.
"""

from __future__ import annotations

import re

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from app.api import serializers
from app.api.dependencies import KEY_SCHEME
from app.api.http.prefer import wait_seconds
from app.api.http.problems import responses
from app.api.http.request_log import note_caller
from app.api.http.threads import run_in_thread
from app.api.receive_submission import (
    CSV_BODY,
    LONGEST_KEY,
    LONGEST_MESSAGE,
    header_parameter,
    receive_submission,
    submission_meta,
)
from app.api.schemas.submissions import SubmissionOut
from app.errors import Invalid
from app.prometheus_metrics import RECEIVED
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions import disclose, submit
from app.services.submissions.disclose import Disclosed
from app.services.submissions.wait_for_outcome import show_after_wait, wait_until_shown
from app.storage.database.records import RunRecord, SubmissionRecord

MAX_WAIT_SECONDS = 60.0
RUN_ID = re.compile(r"[a-z0-9_]{1,64}")
LOCATION = {"Location": {"schema": {"type": "string"}, "description": "the path of the submission"}}
PARAMETERS = [
    {
        "name": "run_id", "in": "path", "required": True,
        "schema": {"type": "string", "maxLength": 64, "pattern": "^[a-z0-9_]+$"},
    },
    header_parameter("idempotency-key", "the same key and bytes return the same submission; once "
                     "per file", maxLength=LONGEST_KEY),
    header_parameter("prefer", "`wait=N`: answer when it is settled, or after N seconds (at most "
                     "60)"),
    header_parameter("X-Podium-Message", "a note to store, in UTF-8 (other bytes are read as "
                     "Latin-1)", maxLength=LONGEST_MESSAGE),
]  # fmt: skip


class RawRoute(APIRoute):
    """A route whose endpoint gets the request and returns the response.

    The application's handlers answer its errors.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the endpoint and send its response."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        response: Response = await self.endpoint(Request(scope, receive, send))
        await response(scope, receive, send)


router = APIRouter(prefix="/v1", tags=["submissions"], route_class=RawRoute)


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
    run_id, meta = _run_id(request), submission_meta(request)
    wait = wait_seconds(request, MAX_WAIT_SECONDS)
    submission_id = submit.new_submission_id()
    with context.notifications.subscribe(submission_id) as settled:
        stored_submission = await receive_submission(
            request, context, run_id, submission_id, lambda _: meta
        )
        received, caller = stored_submission.received, stored_submission.caller
        note_caller(request.scope, caller.key_id, caller.role.value)
        # The policy `none` shows no state, so there is nothing to wait for.
        waits = not caller.is_run or stored_submission.run.feedback.shows_state
        if received.created:
            RECEIVED.inc()
            if wait is not None and waits:
                await wait_until_shown(
                    context, caller, stored_submission.run, received.submission, settled, wait
                )
    stored = received.submission
    # Without a wait, do not reveal by the response time whether the grading has finished.
    if received.created and (wait is None or not waits):
        shown = await _new(context, caller, stored_submission.run, stored)
    elif received.created:
        shown = await run_in_thread(show_after_wait, context, caller, stored_submission.run, stored)
    else:
        shown = await run_in_thread(disclose.show, context, caller, stored.id)
    headers = {"Location": f"/v1/submissions/{stored.id}"}
    if wait is not None and received.created and waits:
        headers["Preference-Applied"] = f"wait={wait:g}"
    is_settled = waits and shown.submission.state.is_settled
    status = 200 if not received.created else 201 if is_settled else 202
    # No model validates this document; tests compare it with the declared one.
    document = to_json(serializers.submission(shown))
    return Response(document, status, headers, "application/json")


async def _new(
    context: Context, caller: Caller, run: RunRecord, stored: SubmissionRecord
) -> Disclosed:
    """The submission that was just stored, without a thread, which would double the cost."""
    if context.catalogue.has(run.version_id):
        return disclose.show_new(context, caller, run, stored)
    # The cache has dropped the version since the submission was admitted.
    return await run_in_thread(disclose.show_new, context, caller, run, stored)


def _run_id(request: Request) -> str:
    found: str = request.path_params["run_id"]
    if not RUN_ID.fullmatch(found):
        raise Invalid("path.run_id: a run's id has at most 64 characters of a-z, 0-9 and _.")
    return found
