"""Read a submission from a request and store it: its headers, its bytes, its row."""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import Request

from app.api.dependencies import sent_key
from app.api.http.body_limit import SMALL_BODY_BYTES, body_slot, upload_slot
from app.api.http.openapi import form_with_file
from app.api.http.request_log import note_caller
from app.api.http.threads import run_in_thread
from app.api.http.upload import body_in_memory, memory_body, received_upload
from app.errors import BadRequest, Invalid, QuotaExceeded
from app.services.runtime.context import Context
from app.services.submissions import quotas, submit
from app.services.submissions.batch_receiver import (
    BatchReceiver,
    IncomingSubmission,
    StoredSubmission,
)
from app.services.submissions.record_disclosures import (
    has_limits_of_submissions,
    record_counted_failures,
    record_refusal,
)
from app.services.submissions.submit import Sender, SubmissionMeta
from app.storage.blobs.store import Blob

CSV_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A CSV file; `Content-Encoding: gzip` or `zstd` allowed.",
        "content": {
            "text/csv": {"schema": {"type": "string", "format": "binary"}},
            **form_with_file("file", message={"type": "string", "description": "a note to store"}),
        },
    }
}
LONGEST_KEY = 255
LONGEST_MESSAGE = 500


async def receive_submission(
    request: Request,
    context: Context,
    run_id: str,
    submission_id: str,
    meta: Callable[[str], SubmissionMeta],
) -> StoredSubmission:
    """Store the submission: a small one together with others, a large one alone.

    `meta` makes the metadata from the SHA-256 of the file. The grading loop is woken. If the answer
    reveals failures, these are entered in the ledger first.
    """
    try:
        stored = await _receive(request, context, run_id, submission_id, meta)
    except QuotaExceeded as refusal:
        await run_in_thread(record_refusal, context, sent_key(request), run_id, refusal)
        raise
    if stored.received.created and has_limits_of_submissions(stored.run):
        await run_in_thread(record_counted_failures, context, stored.caller, stored.run)
    return stored


async def _receive(
    request: Request,
    context: Context,
    run_id: str,
    submission_id: str,
    meta: Callable[[str], SubmissionMeta],
) -> StoredSubmission:
    limit, size = context.settings.max_upload_bytes, memory_body(request)
    sent = meta("").idempotency_key
    sender = Sender(sent_key(request), run_id, sent)
    if size is not None and size > SMALL_BODY_BYTES:
        caller, _ = await run_in_thread(submit.admit, context, sender)
        note_caller(request.scope, caller.key_id, caller.role.value)
        async with body_slot(request.scope, caller.key_id, size):
            return await _receive_in_memory(request, context, run_id, submission_id, meta)
    if size is not None:
        return await _receive_in_memory(request, context, run_id, submission_id, meta)
    caller, run = await run_in_thread(submit.admit, context, sender)
    note_caller(request.scope, caller.key_id, caller.role.value)  # looked up again after the body
    is_new = sent is None  # a file that was sent before gets its answer even beyond the quota
    async with upload_slot(request.scope, caller.key_id, is_run=caller.is_run):
        if is_new:
            await run_in_thread(quotas.refuse_unstorable, context, run)
        incoming = await run_in_thread(context.reservations.stored.begin, context.database, run.id)
        count = incoming.add if is_new else _ignore
        try:
            async with received_upload(request, context.blobs, limit, count) as (upload, note):
                incoming.end()
                blob = upload.received()
                of_file = meta(blob.sha256)
                if note and not of_file.message:
                    of_file = replace(of_file, message=_checked("The part message", note))
                received = await submit.store_bytes(
                    context, run, submission_id, blob, upload.finish, of_file
                )
                request.app.state.worker.wake()
        finally:
            incoming.end()
    return StoredSubmission(caller, run, received)


def _ignore(size: int) -> None:
    """Count nothing."""


async def _receive_in_memory(
    request: Request,
    context: Context,
    run_id: str,
    submission_id: str,
    meta: Callable[[str], SubmissionMeta],
) -> StoredSubmission:
    data = await body_in_memory(request, context.settings.max_upload_bytes)
    announced = Blob(hashlib.sha256(data).hexdigest(), len(data))
    of_file = meta(announced.sha256)
    sender = Sender(sent_key(request), run_id, of_file.idempotency_key)
    receiver: BatchReceiver | None = request.app.state.batch_receiver
    if receiver is not None:
        incoming = IncomingSubmission(submission_id, sender, data, announced, of_file)
        return await asyncio.wrap_future(receiver.receive(incoming))
    caller, run = await run_in_thread(submit.admit, context, sender)
    put = functools.partial(context.blobs.put, data)
    received = await submit.store_bytes(context, run, submission_id, announced, put, of_file)
    request.app.state.worker.wake()
    return StoredSubmission(caller, run, received)


def submission_meta(request: Request) -> SubmissionMeta:
    """The note and the Idempotency-Key of a request."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and len(key) > LONGEST_KEY:
        raise Invalid(f"header.Idempotency-Key: it has more than {LONGEST_KEY} characters.")
    message = _as_utf_8(request.headers.get("X-Podium-Message", ""))
    return SubmissionMeta(_checked("header.X-Podium-Message", message), key)


def _as_utf_8(header: str) -> str:
    """The text of a header that a person wrote. Clients send UTF-8; Starlette reads Latin-1.

    Bytes that are not UTF-8 stay Latin-1.
    """
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return header


def _checked(where: str, message: str) -> str:
    if len(message) > LONGEST_MESSAGE:
        raise Invalid(f"{where}: it has more than {LONGEST_MESSAGE} characters.")
    if not message.isprintable():
        raise BadRequest(f"{where}: it holds control characters.")
    return message


def header_parameter(name: str, description: str, **schema: Any) -> dict[str, Any]:
    """An optional header, for a route's OpenAPI description."""
    return {
        "name": name, "in": "header", "required": False, "description": description,
        "schema": {"type": "string", **schema},
    }  # fmt: skip
