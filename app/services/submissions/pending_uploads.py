"""Files between their upload and their submission: Kaggle's clients send the two apart.

The bytes are in the store and a row says so, so that an upload begun at one server may be sent to
a second and submitted at a third.
"""

from __future__ import annotations

import contextlib
import secrets
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.errors import Conflict, StoreAway
from app.services.runtime.context import Context
from app.storage.blobs.store import Blob, Upload
from app.storage.database.records import PendingUploadRecord
from app.storage.queries import pending_uploads

PENDING_PER_RUN = 4  # a run that uploads and never submits keeps only its latest files here
EXPIRED_AT_ONCE = 100


def refuse_second(context: Context, nonce: str) -> None:
    """Ask before the bytes come whether this address was used.

    Raises:
        Conflict: a whole file came for it.
    """
    with context.database.read() as session:
        if pending_uploads.get(session, nonce) is not None:
            raise _used()


def add(context: Context, upload: Upload, nonce: str, run_id: str, until: datetime) -> None:
    """Keep a whole file until it is submitted, or until its time is over.

    Raises:
        Conflict: another came for this address meanwhile.
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
        is_ours = pending_uploads.add(session, pending)
        old = pending_uploads.beyond_limit(session, run_id, PENDING_PER_RUN)
        old += pending_uploads.expired(session, now, EXPIRED_AT_ONCE)
        pending_uploads.remove(session, [one.nonce for one in old])
        return is_ours, old

    is_ours, old = context.database.write(write)
    _discard_files(context, [one.name for one in old] + ([] if is_ours else [name]))
    if not is_ours:
        raise _used()


def find(context: Context, nonce: str, run_id: str) -> PendingUploadRecord | None:
    """The whole file that came for this run under this nonce."""
    with context.database.read() as session:
        pending = pending_uploads.get(session, nonce)
    return pending if pending is not None and pending.run_id == run_id else None


def promote(context: Context, pending: PendingUploadRecord) -> Blob:
    """Make a blob of it; doing it again changes nothing.

    Raises:
        StoreAway: the store cannot be reached.
    """
    blob = Blob(pending.sha256, pending.bytes)
    context.blobs.promote(pending.name, blob)
    return blob


def discard(context: Context, pending: PendingUploadRecord) -> None:
    """It was submitted: nobody asks for it any more."""
    context.database.write(lambda session: pending_uploads.remove(session, [pending.nonce]))


def _discard_files(context: Context, names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(StoreAway):  # it stays: a file that no row names, and no harm
            context.blobs.discard(name)


def _used() -> Conflict:
    return Conflict("A file was sent to this address already; submit again for another.")
