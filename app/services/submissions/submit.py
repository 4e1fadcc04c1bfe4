"""Admit a submission and store its row, after its bytes were stored as a blob."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.errors import PodiumError
from app.services.auth import Caller, authenticate, own_run
from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import InsertedSubmission
from app.services.runtime.reservations import Reservation, Wanted
from app.services.runtime.run_limits import refuse_closed, refuse_measured
from app.storage.blobs.lease import Lease
from app.storage.blobs.store import Blob
from app.storage.blobs.verify import verify_file
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import submissions
from app.storage.queries.ids import new_id

Admission = tuple[Caller, RunRecord]


@dataclass(frozen=True, slots=True)
class SubmissionMeta:
    """The metadata that are sent with a submission's bytes."""

    message: str
    idempotency_key: str | None
    file_name: str | None = None


def open_run(context: Context, caller: Caller, run_id: str) -> RunRecord:
    """The run, if it is open and the caller may submit to it. Call before storing any bytes.

    Raises:
        NotFound: the run is not the caller's.
        RunClosed: the run is closed or its time is over.
        TakesNoSubmissions: the competition's results are measured.
    """
    with context.database.read() as session:
        return _open_run(context, session, caller, run_id)


def admit(context: Context, key: str | None, run_id: str) -> Admission:
    """Authenticate a key and find its open run, in one session.

    Raises:
        Unauthorized: the key is not valid. Otherwise as `open_run`.
    """
    with context.database.read() as session:
        return _admit(context, session, key, run_id)


def admit_all(
    context: Context, credentials: Sequence[tuple[str | None, str]]
) -> list[Admission | PodiumError]:
    """Like `admit`, for many keys and runs in one session. Errors are returned, not raised."""
    found: dict[tuple[str | None, str], Admission | PodiumError] = {}
    with context.database.read() as session:
        for one in credentials:
            if one not in found:
                try:
                    found[one] = _admit(context, session, *one)
                except PodiumError as refusal:
                    found[one] = refusal
    return [found[one] for one in credentials]


def _admit(context: Context, session: Session, key: str | None, run_id: str) -> Admission:
    caller = authenticate(session, key)
    return caller, _open_run(context, session, caller, run_id)


def _open_run(context: Context, session: Session, caller: Caller, run_id: str) -> RunRecord:
    run = own_run(session, caller, run_id)
    refuse_closed(run, datetime.now(UTC))
    refuse_measured(context.catalogue.of_version(run.version_id).competition)
    return run


def store(
    context: Context, run: RunRecord, submission_id: str, blob: Blob, meta: SubmissionMeta
) -> Future[InsertedSubmission]:
    """Store the row of a submission whose bytes are stored. Done once the row is committed.

    The future raises RunClosed, QuotaExceeded or IdempotencyMismatch. Nothing was stored then.
    """
    received_at = datetime.now(UTC)
    return context.inserts.add(
        SubmissionRecord(
            id=submission_id,
            run_id=run.id,
            version_id=run.version_id,
            message=meta.message,
            bytes=blob.bytes,
            sha256=blob.sha256,
            idempotency_key=meta.idempotency_key,
            received_at=received_at,
            run_seconds=(received_at - run.created_at).total_seconds(),
            file_name=meta.file_name,
        )
    )


async def store_bytes(
    context: Context,
    run: RunRecord,
    submission_id: str,
    sha256: str,
    put: Callable[[], Blob],
    meta: SubmissionMeta,
) -> InsertedSubmission:
    """Store a submission's bytes by `put`, then its row. Nothing is stored if it is refused.

    Raises:
        RunClosed, QuotaExceeded, IdempotencyMismatch: it is refused.
        StorageFull, StoreAway: the bytes cannot be stored.
    """
    reservation = await _reserve(context, run, sha256, meta)
    try:
        blob = await asyncio.to_thread(put)
        row = store(context, run, submission_id, blob, meta)
        return await asyncio.wrap_future(row)
    finally:
        reservation.release()


async def _reserve(
    context: Context, run: RunRecord, sha256: str, meta: SubmissionMeta
) -> Reservation:
    """A place for a submission whose bytes are received but not stored."""
    wanted = Wanted(run, sha256, meta.idempotency_key)
    while True:
        found = await asyncio.to_thread(
            context.reservations.reserve, context.database, [wanted], datetime.now(UTC)
        )
        if isinstance(found[0], Reservation):
            return found[0]
        if isinstance(found[0], PodiumError):
            raise found[0]
        # `asyncio.wait` does not cancel the other submission's future if this request is cancelled.
        await asyncio.wait([asyncio.wrap_future(found[0].until)])


def verified_file(context: Context, submission: SubmissionRecord) -> Lease:
    """The file of a submission, compared with its digest.

    Raises:
        DamagedFile: the store has lost or damaged it.
        StoreAway: the store cannot be reached.
    """
    lease = context.blobs.lease(submission.sha256)
    verify_file(lease.path, submission.sha256)
    return lease


def new_submission_id() -> str:
    """A new submission id. It exists before the row, so that a caller can subscribe to it."""
    return new_id(submissions.PREFIX)
