"""Uploaded files that are not submitted yet. Kaggle's clients upload first and submit later.

The bytes are in the blob store and a row names them, so each of the requests may reach a different
server.
"""

from __future__ import annotations

import contextlib
import secrets
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.errors import BadRequest, Conflict, DamagedFile, StoreAway
from app.services.runtime.context import Context
from app.services.runtime.run_limits import existing_run, refuse_closed
from app.storage.blobs.store import Blob, Upload
from app.storage.queries import pending_uploads, submissions
from app.storage.queries.pending_uploads import PendingUploadRecord

PENDING_PER_RUN = 4  # only the latest uploads of a run are kept
EXPIRED_PER_ADD = 100  # expired uploads that one `add` removes at most


def submission_key(nonce: str) -> str:
    """The Idempotency-Key of the submission of an uploaded file."""
    return f"kaggle-{nonce}"


def refuse_useless(context: Context, nonce: str, run_id: str) -> None:
    """Refuse an upload that nobody could submit: its run is over, or its address was used.

    Raises:
        RunClosed: the run was closed, or its hours are over.
        Conflict: a complete file was already uploaded to this address, or submitted from it.
    """
    with context.database.read() as session:
        refuse_closed(existing_run(session, run_id), datetime.now(UTC))
        if pending_uploads.get(session, nonce) or _is_submitted(session, nonce, run_id):
            raise _address_used()


def add(context: Context, upload: Upload, nonce: str, run_id: str, until: datetime) -> None:
    """Keep an uploaded file until it is submitted or expires.

    Raises:
        Conflict: another file was uploaded to this address meanwhile.
        StoreAway, StorageFull: nothing was kept.
    """
    name = secrets.token_hex(16)
    blob = context.blobs.stage(upload, name)
    now = datetime.now(UTC)
    pending = PendingUploadRecord(
        nonce=nonce, run_id=run_id, name=name, sha256=blob.sha256, bytes=blob.bytes,
        came_at=now, until=until,
    )  # fmt: skip

    def write(session: Session) -> tuple[bool, list[PendingUploadRecord]]:
        is_first = not _is_submitted(session, nonce, run_id)
        is_first = is_first and pending_uploads.add(session, pending)
        old = pending_uploads.beyond_limit(session, run_id, PENDING_PER_RUN, nonce)
        old += pending_uploads.expired(session, now, EXPIRED_PER_ADD)
        pending_uploads.remove(session, [one.nonce for one in old])
        return is_first, old

    is_first, old = context.database.write(write)
    _discard_files(context, [one.name for one in old] + ([] if is_first else [name]))
    if not is_first:
        raise _address_used()


def find(context: Context, nonce: str, run_id: str) -> PendingUploadRecord | None:
    """The file that was uploaded for this run with this nonce, if there is one."""
    with context.database.read() as session:
        pending = pending_uploads.get(session, nonce)
    return pending if pending is not None and pending.run_id == run_id else None


def promote(context: Context, pending: PendingUploadRecord) -> Blob:
    """Make the uploaded file a blob. A second call changes nothing.

    Raises:
        BadRequest: later uploads of the run took its place since it was found.
        DamagedFile: the store has lost it.
        StoreAway: the store cannot be reached.
    """
    blob = Blob(pending.sha256, pending.bytes)
    try:
        context.blobs.promote(pending.name, blob)
    except DamagedFile:
        if find(context, pending.nonce, pending.run_id) is not None:
            raise
        raise no_file() from None
    return blob


def discard(context: Context, pending: PendingUploadRecord) -> None:
    """Forget an upload that was submitted."""
    context.database.write(lambda session: pending_uploads.remove(session, [pending.nonce]))


def _discard_files(context: Context, names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(StoreAway):  # a file that no row names stays; it does no harm
            context.blobs.discard(name)


def _is_submitted(session: Session, nonce: str, run_id: str) -> bool:
    """Whether the file of this address is a submission. Its upload is forgotten then."""
    return submissions.by_idempotency_key(session, run_id, submission_key(nonce)) is not None


def no_file() -> BadRequest:
    """The refusal of a token whose file is not kept."""
    return BadRequest("There is no file for this token, or it has expired. Submit again.")


def _address_used() -> Conflict:
    return Conflict("A file was already sent to this address; submit again to get a new address.")
