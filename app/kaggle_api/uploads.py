"""Uploads for `kaggle competitions submit`: an address for the file, and the file's bytes."""

from __future__ import annotations

import functools
import secrets
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from app.api.dependencies import Anyone, Ctx
from app.api.http.body_limit import upload_slot
from app.api.http.origin import origin
from app.api.http.upload import bounded
from app.errors import BadRequest, QuotaExceeded, TooLarge
from app.kaggle_api.deps import State, run_at
from app.kaggle_api.fields import Body
from app.kaggle_api.route import COMPETITIONS, kaggle_router, rpc
from app.services.submissions import pending_uploads, quotas
from app.services.submissions.record_disclosures import record_revealed_failures
from app.services.submissions.storing_threads import store_in_thread
from app.storage.blobs.store import Upload

router = kaggle_router()
UPLOAD = "upload"  # what the signed addresses of uploads are for
UPLOAD_SECONDS = 3600
COMPRESSED = (".zip", ".gz", ".7z", ".tar", ".parquet", ".xlsx")


@rpc(router, COMPETITIONS, "StartSubmissionUpload")
def start_upload(
    request: Request, context: Ctx, caller: Anyone, state: State, fields: Body
) -> dict[str, Any]:
    """Give an address for the file; refuse at once a file that could not be stored."""
    run, _ = run_at(context, caller, fields.slug())
    size, name = fields.integer("contentLength"), fields.line("fileName")
    if name.lower().endswith(COMPRESSED):
        raise BadRequest(f"{name!r} cannot be read here: submit the plain CSV file.")
    if size > context.settings.max_upload_bytes:
        raise TooLarge(
            f"The file has {size} bytes; this service accepts {context.settings.max_upload_mb} MB."
        )
    try:
        quotas.refuse_unstorable(context, run, size)
    except QuotaExceeded as refusal:
        record_revealed_failures(context, caller, run, refusal)
        raise
    record_revealed_failures(context, caller, run)
    token = state.tokens.sign(
        UPLOAD, UPLOAD_SECONDS,
        key=caller.key_id, run=run.id, bytes=size, name=name[-200:], nonce=secrets.token_hex(12),
    )  # fmt: skip
    return {"token": token, "createUrl": f"{origin(request)}/api/v1/uploads/{token}"}


@router.put("/api/v1/uploads/{token}")
async def receive(request: Request, context: Ctx, state: State, token: str) -> dict[str, Any]:
    """Receive the announced bytes. The signed address permits this once, without a key."""
    content = await run_in_threadpool(state.open, context, UPLOAD, token)
    refuse_useless = functools.partial(
        pending_uploads.refuse_useless, context, content["nonce"], content["run"]
    )
    await run_in_threadpool(refuse_useless)
    async with upload_slot(request.scope, content["key"], is_run=True):
        stored = context.reservations.stored
        incoming = await run_in_threadpool(stored.begin, context.database, content["run"])
        upload = await run_in_threadpool(context.blobs.new_upload)
        try:
            incoming.add(content["bytes"])
            await _receive_exactly(request, upload, content["bytes"])
            until = datetime.fromtimestamp(content["until"], UTC)
            await run_in_threadpool(state.open, context, UPLOAD, token)  # it may have ended since
            await run_in_threadpool(refuse_useless)
            keep = functools.partial(
                pending_uploads.add, context, upload, content["nonce"], content["run"], until
            )
            await store_in_thread(content["bytes"], keep)
        finally:
            incoming.end()
            upload.discard()
    return {}


async def _receive_exactly(request: Request, upload: Upload, announced: int) -> None:
    length = request.headers.get("Content-Length", "")
    if length.isdigit() and int(length) != announced:
        raise BadRequest(f"{announced} bytes were announced, but {length} are sent.")
    count = 0
    try:
        async for chunk in bounded(request, announced):
            upload.write(chunk)
            count += len(chunk)
    except TooLarge:
        raise BadRequest(f"{announced} bytes were announced, but more were sent.") from None
    if count != announced:
        raise BadRequest(f"{announced} bytes were announced, but {count} were sent.")
    upload.close()
