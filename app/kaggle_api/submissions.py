"""The calls that submit an uploaded file, and those that show submissions."""

from __future__ import annotations

import functools
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic_core import to_json

from app.api.dependencies import Anyone, Ctx
from app.api.http.next_page import MOST_PAGE_BYTES
from app.api.http.turns.request_turns import give_turn_back
from app.domain.feedback import Feedback
from app.domain.states import SubmissionState
from app.errors import (
    BadRequest,
    Invalid,
    NotFound,
    QuotaExceeded,
)
from app.kaggle_api.deps import KaggleState, State, name_of, run_at, run_of
from app.kaggle_api.fields import Body, Fields
from app.kaggle_api.route import COMPETITIONS, kaggle_router, rpc
from app.kaggle_api.serializers import reference, refusal, submission
from app.kaggle_api.uploads import UPLOAD
from app.prometheus_metrics import RECEIVED
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions import disclose, pending_uploads, quotas, submit
from app.services.submissions.disclose import Disclosed
from app.services.submissions.record_disclosures import record_revealed_failures
from app.services.submissions.run_submissions import first_from
from app.services.submissions.submit import SubmissionMeta
from app.services.submissions.wait_for_outcome import show_after_wait, wait_until_shown
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord

router = kaggle_router()
GRADING_WAIT_SECONDS = 20.0  # so that the answer to an invalid file has its mistakes
USUAL_PAGE = 100  # the clients do not ask for a second page
AT_ONCE = 50  # read together: each may have twenty long violations
UNLIMITED = 1_000_000


@rpc(router, COMPETITIONS, "CreateSubmission")
async def create_submission(
    request: Request, context: Ctx, caller: Anyone, state: State, fields: Body
) -> dict[str, Any]:
    """Submit an uploaded file. An invalid file is answered with its mistakes, and stored."""
    run, entry = await run_in_threadpool(run_at, context, caller, fields.slug())
    if fields.flag("sandbox"):
        raise BadRequest(
            "Every submission counts here: there are no sandbox submissions. Nothing was "
            "submitted. Send the file without --sandbox if it is to count."
        )
    meta, nonce = _submission_meta(state, run, fields)
    try:
        shown = await _store_once(request, context, caller, run, meta, nonce)
    except QuotaExceeded as refused:
        await run_in_threadpool(record_revealed_failures, context, caller, run, refused)
        raise
    await run_in_threadpool(record_revealed_failures, context, caller, run)
    if shown.state == SubmissionState.REJECTED:
        raise Invalid(refusal(shown))
    return {
        "message": f"Successfully submitted to {entry.competition.title}",
        "ref": reference(shown.submission.id),
    }


@rpc(router, COMPETITIONS, "CreateCodeSubmission")
def create_code_submission(caller: Anyone) -> None:
    """Refuse notebooks: Podium does not run them."""
    raise BadRequest("Podium grades files, not notebooks: submit a CSV file with -f.")


@rpc(router, COMPETITIONS, "GetSubmission")
def get_submission(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """One submission, by its number for Kaggle's clients."""
    run = run_of(context, caller)
    ref = fields.integer("ref")
    start = f"sub_{ref:014x}"
    found = first_from(context, caller, run, start)
    if found is None:
        raise NotFound(f"This run has no submission {ref}.")
    return submission(found, name_of(caller))


@rpc(router, COMPETITIONS, "ListSubmissions")
def list_submissions(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """The run's own submissions, newest first, as its policy allows; a page ends at 1.5 MB."""
    run, _ = run_at(context, caller, fields.slug())
    before, start, size = fields.page_before(USUAL_PAGE)
    shown: list[dict[str, Any]] = []
    more, length = True, 0
    while more and len(shown) < size and length < MOST_PAGE_BYTES:
        found, more = disclose.latest(
            context, caller, run, before=before, offset=start, limit=min(AT_ONCE, size - len(shown))
        )
        shown += [submission(one, name_of(caller)) for one in found]
        length += sum(len(to_json(one)) for one in shown[-len(found) :])
        before, start = found[-1].submission.id if found else before, 0
    return {"submissions": shown, "nextPageToken": before if more else ""}


@rpc(router, COMPETITIONS, "GetSubmissionLimits")
def get_limits(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """How many submissions count so far, and how many more may be sent now."""
    run, _ = run_at(context, caller, fields.slug())
    used = quotas.quota(context, caller, run)
    return {
        "numToday": used.today,
        "numTotal": used.total,
        "numAllowedNow": UNLIMITED if used.allowed_now is None else used.allowed_now,
        "limitedByTotal": used.is_limited_by_total,
    }


def _submission_meta(
    state: KaggleState, run: RunRecord, fields: Fields
) -> tuple[SubmissionMeta, str]:
    content = state.tokens.open(UPLOAD, fields.required("blobFileTokens"))
    if content["run"] != run.id:
        raise NotFound("This file was uploaded for another run.")
    message = fields.line("submissionDescription")
    nonce = str(content["nonce"])
    key = pending_uploads.submission_key(nonce)
    return SubmissionMeta(message, key, content["name"] or None), nonce


async def _store_once(
    request: Request,
    context: Context,
    caller: Caller,
    run: RunRecord,
    meta: SubmissionMeta,
    nonce: str,
) -> Disclosed:
    """The submission of an upload. A client may send a call again while the first is served."""
    key = meta.idempotency_key or ""
    known = await run_in_threadpool(submit.sent_before, context, run, key)
    if known is None:
        try:
            return await _store(request, context, caller, run, meta, nonce)
        except (BadRequest, QuotaExceeded):
            # The first call may have used up the file, or the last submission that was left.
            known = await run_in_threadpool(submit.sent_before, context, run, key)
            if known is None:
                raise
    return await run_in_threadpool(disclose.show, context, caller, known)


async def _store(
    request: Request,
    context: Context,
    caller: Caller,
    run: RunRecord,
    meta: SubmissionMeta,
    nonce: str,
) -> Disclosed:
    await run_in_threadpool(quotas.refuse_unstorable, context, run)
    file = await run_in_threadpool(pending_uploads.find, context, nonce, run.id)
    if file is None:
        raise pending_uploads.no_file()
    promote = functools.partial(pending_uploads.promote, context, file)
    submission_id = submit.new_submission_id()
    announced = Blob(file.sha256, file.bytes)
    give_turn_back(request.scope)  # it waits for a grading, for which other requests need not wait
    with context.notifications.subscribe(submission_id) as settled:
        stored = await submit.store_bytes(context, run, submission_id, announced, promote, meta)
        if stored.created:
            RECEIVED.inc()
            request.app.state.worker.wake()
        if stored.created and run.feedback is not Feedback.NONE:
            await wait_until_shown(
                context, caller, run, stored.submission, settled, GRADING_WAIT_SECONDS
            )
    await run_in_threadpool(pending_uploads.discard, context, file)
    return await run_in_threadpool(show_after_wait, context, caller, run, stored.submission)
