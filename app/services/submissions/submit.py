"""Admit a submission and store its row, after its bytes were stored as a blob."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime

from app.errors import PodiumError
from app.services.auth import Caller, authenticate_all, may_ask_for, may_reach, own_run
from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import InsertedSubmission
from app.services.runtime.reservations import Outcome, Reservation, WantedPlace
from app.services.runtime.run_limits import (
    no_run,
    refuse_closed,
    refuse_measured,
    start_clocks,
)
from app.services.submissions.storing_threads import store_in_thread
from app.storage.blobs.lease import Lease
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord, SubmissionRecord
from app.storage.queries import runs, submissions
from app.storage.queries.ids import new_id

Admission = tuple[Caller, RunRecord]


@dataclass(frozen=True, slots=True)
class SubmissionMeta:
    """The metadata that are sent with a submission's bytes."""

    message: str
    idempotency_key: str | None
    file_name: str | None = None


@dataclass(frozen=True, slots=True)
class Sender:
    """The API key, the run and the Idempotency-Key of a submission."""

    key: str | None
    run_id: str
    idempotency_key: str | None


def open_run(context: Context, caller: Caller, run_id: str) -> RunRecord:
    """The run, if it is open and the caller may submit to it. Call before storing any bytes.

    Raises:
        NotFound: the run is not the caller's.
        RunClosed: the run is closed or its time is over.
        TakesNoSubmissions: the competition's results are measured.
    """
    with context.database.read() as session:
        run = own_run(session, caller, run_id)
    refuse_closed(run, datetime.now(UTC))
    return _graded_run(context, run)


def admit(context: Context, sender: Sender) -> Admission:
    """Authenticate a key and find its run.

    With an Idempotency-Key the run may be closed, because a client may repeat a request whose
    answer was lost. That key is looked up after the body, when it is certain.

    Raises:
        Unauthorized: the key is not valid. Otherwise as `open_run`.
    """
    admission = admit_all(context, [sender])[0]
    if isinstance(admission, PodiumError):
        raise admission
    return admission


def admit_all(context: Context, senders: Sequence[Sender]) -> list[Admission | PodiumError]:
    """Like `admit`, for many submissions in one session. Errors are returned, not raised.

    The first request of a run's key starts the run's clock, also if it is refused.
    """
    with context.database.read() as session:
        callers = authenticate_all(session, {one.key for one in senders})
        asked = {
            one.run_id
            for one in senders
            if isinstance(caller := callers[one.key], Caller) and may_ask_for(caller, one.run_id)
        }
        existing = runs.get_runs(session, asked)
    admissions = [
        _admission(callers[one.key], one.run_id, existing.get(one.run_id)) for one in senders
    ]
    for place, (one, admission) in enumerate(zip(senders, admissions, strict=True)):
        if not isinstance(admission, PodiumError):
            try:
                if one.idempotency_key is None:
                    refuse_closed(admission[1], datetime.now(UTC))
                _graded_run(context, admission[1])
            except PodiumError as refusal:
                admissions[place] = refusal
    waiting = {one.waiting_run for one in callers.values() if isinstance(one, Caller)}
    start_clocks(context.database, waiting)
    return admissions


def _admission(
    caller: Caller | PodiumError, run_id: str, run: RunRecord | None
) -> Admission | PodiumError:
    if isinstance(caller, PodiumError):
        return caller
    if run is None or not may_reach(caller, run):
        return no_run(run_id)
    return caller, run


def _graded_run(context: Context, run: RunRecord) -> RunRecord:
    """The run, if its competition is graded. Call it without a session: it may need one.

    It reads no file, because one thread admits all small submissions.
    """
    refuse_measured(context.catalogue.declaration(run.version_id))
    return run


def sent_before(context: Context, run: RunRecord, idempotency_key: str) -> str | None:
    """The submission of the run with this Idempotency-Key. A client may repeat a lost request."""
    with context.database.read() as session:
        known = submissions.by_idempotency_key(session, run.id, idempotency_key)
    return known.id if known else None


def new_submission(
    run: RunRecord, submission_id: str, blob: Blob, meta: SubmissionMeta
) -> SubmissionRecord:
    """The row of a submission whose bytes are stored now, for `Context.inserts`.

    The insertion sets `run_seconds`, because only it sees the start of the run for certain.
    """
    return SubmissionRecord(
        id=submission_id,
        run_id=run.id,
        version_id=run.version_id,
        message=meta.message,
        bytes=blob.bytes,
        sha256=blob.sha256,
        idempotency_key=meta.idempotency_key,
        received_at=datetime.now(UTC),
        run_seconds=0.0,
        file_name=meta.file_name,
    )


async def store_bytes(
    context: Context,
    run: RunRecord,
    submission_id: str,
    announced: Blob,
    put: Callable[[], Blob],
    meta: SubmissionMeta,
) -> InsertedSubmission:
    """Store a submission's bytes by `put`, then its row. Nothing is stored if it is refused.

    `announced` is what `put` will store.

    Raises:
        RunClosed, QuotaExceeded, IdempotencyMismatch: it is refused.
        StorageFull, StoreAway: the bytes cannot be stored.
    """
    reservation = await _reserve(context, run, announced, meta)
    is_stored = True  # it may be stored even if this request is cancelled
    try:
        blob = await store_in_thread(announced.bytes, put) if reservation.stores else announced
        row = new_submission(run, submission_id, blob, meta)
        received = await asyncio.wrap_future(context.inserts.add(row))
        is_stored = received.created
    except Exception:
        is_stored = False
        raise
    finally:
        reservation.release(is_stored=is_stored)
    return received


async def _reserve(
    context: Context, run: RunRecord, announced: Blob, meta: SubmissionMeta
) -> Reservation:
    """Reserve a submission whose bytes are received but not stored."""
    wanted = WantedPlace(run, announced, meta.idempotency_key)
    while True:
        found = await _ask_for_place(context, wanted)
        if isinstance(found, Reservation):
            return found
        if isinstance(found, PodiumError):
            raise found
        # `asyncio.wait` does not cancel the other submission's future if this request is cancelled.
        await asyncio.wait([asyncio.wrap_future(found.until)])


async def _ask_for_place(context: Context, wanted: WantedPlace) -> Outcome:
    """Reserve in a thread. A reservation that is made after this request has ended is released."""
    answer: Future[Outcome] = Future()

    def ask() -> Outcome:
        found = context.reservations.reserve(context.database, [wanted], datetime.now(UTC))[0]
        answer.set_result(found)
        return found

    try:
        return await asyncio.to_thread(ask)
    except BaseException:
        # The thread may still run. If none could be started, a later one makes the reservation.
        answer.add_done_callback(_give_back)
        raise


def _give_back(answer: Future[Outcome]) -> None:
    found = answer.result()
    if isinstance(found, Reservation):
        found.release()


def verified_file(context: Context, submission: SubmissionRecord) -> Lease:
    """The file of a submission for a client, compared with its digest if it changed since.

    Raises:
        DamagedFile: the store has lost or damaged it.
        StoreAway: the store cannot be reached.
    """
    lease = context.blobs.lease(submission.sha256, is_shown=True)
    if context.blobs.is_local:  # a copy of a remote file was compared when it was leased
        context.verified.require(lease.path, submission.sha256)
    return lease


def new_submission_id() -> str:
    """A new submission id. It exists before the row, so that a caller can subscribe to it."""
    return new_id(submissions.PREFIX)
