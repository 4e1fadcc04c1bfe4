"""Receive small submissions in groups.

Most submissions are a few kilobytes. Writing the bytes is cheap; thread switches, a database
session to look up the key and an fsync cost more. So one thread receives all waiting submissions
together: it checks their keys in one session, stores their bytes with few syncs and adds their
rows to the insert batch.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime

from app.errors import PodiumError, Unavailable
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import InsertedSubmission
from app.services.runtime.reservations import Reservation, WantedPlace
from app.services.submissions.submit import (
    Admission,
    Sender,
    SubmissionMeta,
    admit_all,
    new_submission,
)
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord
from app.system_limits import is_used_up
from app.thread_pool import ThreadPool

GROUP_SIZE = 128  # limits how long a submission waits for the syncs of others
log = logging.getLogger("podium.submissions")


@dataclass(frozen=True, slots=True)
class IncomingSubmission:
    """A submission whose bytes were received, and its metadata.

    `blob` is the digest and the length of `data`.
    """

    submission_id: str
    sender: Sender
    data: bytes
    blob: Blob
    meta: SubmissionMeta


@dataclass(frozen=True, slots=True)
class StoredSubmission:
    """A submission whose bytes and row are synced to disk, with its caller and run."""

    caller: Caller
    run: RunRecord
    received: InsertedSubmission


Admitted = tuple[IncomingSubmission, Future[StoredSubmission], Caller, RunRecord]


class BatchReceiver:
    """One thread, started by the first submission. Close it before the context.

    It calls `on_insert` when rows wait for the writer. A claim that comes after that call waits
    behind them, so it finds them.
    """

    def __init__(self, context: Context, blobs: SmallFiles, on_insert: Callable[[], None]) -> None:
        self._context = context
        self._blobs = blobs
        self._on_insert = on_insert
        self._thread = ThreadPool(1, thread_name_prefix="batch-receiver")
        self._lock = threading.Lock()
        self._waiting: list[tuple[IncomingSubmission, Future[StoredSubmission]]] = []

    def receive(self, incoming: IncomingSubmission) -> Future[StoredSubmission]:
        """Store a submission. The future is done once its bytes and its row are synced to disk.

        The future raises the errors of `submit.admit`, `SmallFiles.put_all` and of the inserts.
        Nothing was stored then.
        """
        future: Future[StoredSubmission] = Future()
        future.set_running_or_notify_cancel()  # a request that ends cannot cancel it any more
        self._add(incoming, future)
        return future

    def close(self) -> None:
        """Store the waiting submissions, then stop."""
        self._thread.shutdown()
        self._blobs.close()

    def _add(self, incoming: IncomingSubmission, future: Future[StoredSubmission]) -> None:
        with self._lock:
            self._waiting.append((incoming, future))
            is_first = len(self._waiting) == 1
        if not is_first:  # submissions that arrive before the thread runs join the same group
            return
        try:
            self._thread.submit(self._receive_all)
        except (RuntimeError, MemoryError) as refused:  # no thread, or this receiver was closed
            with self._lock:
                waiting, self._waiting = self._waiting, []
            why = refused if is_used_up(refused) else Unavailable("Podium is shutting down.")
            for _, one in waiting:
                one.set_exception(why)

    def _receive_all(self) -> None:
        while self._receive_group():  # also when this receiver was closed meanwhile
            pass

    def _receive_group(self) -> bool:
        """Receive those that have waited longest. Returns whether more wait."""
        with self._lock:
            group, self._waiting = self._waiting[:GROUP_SIZE], self._waiting[GROUP_SIZE:]
            has_more = bool(self._waiting)
        # Some may have waited for others in a group that failed, and have got its error.
        group = [one for one in group if not one[1].done()]
        try:
            if group:
                self._store_group(group)
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
        return has_more

    def _store_group(
        self, group: Sequence[tuple[IncomingSubmission, Future[StoredSubmission]]]
    ) -> None:
        admitted = []
        for (incoming, future), admission in zip(group, self._admit(group), strict=True):
            if isinstance(admission, Exception):
                future.set_exception(admission)
            else:
                admitted.append((incoming, future, *admission))
        places = self._reserve(admitted)
        new = [(one[0].blob, one[0].data) for one, reservation in places if reservation.stores]
        try:
            refusals = iter(self._blobs.put_all(new) if new else [])
        except Exception as error:
            refusals = iter([error] * len(new))
        for (incoming, future, caller, run), reservation in places:
            refusal = next(refusals) if reservation.stores else None  # else it is stored already
            if refusal is not None:
                reservation.release()
                future.set_exception(refusal)
                continue
            row = self._context.inserts.add(
                new_submission(run, incoming.submission_id, incoming.blob, incoming.meta)
            )
            row.add_done_callback(functools.partial(_release, reservation))
            _forward_result(row, future, caller, run)
        self._on_insert()

    def _admit(
        self, group: Sequence[tuple[IncomingSubmission, Future[StoredSubmission]]]
    ) -> Sequence[Admission | Exception]:
        """The results of `admit_all`; an error for one submission does not affect the others."""
        senders = [incoming.sender for incoming, _ in group]
        try:
            return admit_all(self._context, senders)
        except PodiumError:  # the database is away, for all of them
            raise
        except Exception:
            log.warning("admitting %d submissions one by one", len(group), exc_info=True)
        found: list[Admission | Exception] = []
        for each in senders:
            try:
                found += admit_all(self._context, [each])
            except Exception as error:
                found.append(error)
        return found

    def _reserve(self, admitted: Sequence[Admitted]) -> list[tuple[Admitted, Reservation]]:
        """The submissions that may be stored, with reservations; others are refused, or wait."""
        wanted = [
            WantedPlace(run, incoming.blob, incoming.meta.idempotency_key)
            for incoming, _, _, run in admitted
        ]
        found = self._context.reservations.reserve(
            self._context.database, wanted, datetime.now(UTC)
        )
        places = []
        for one, outcome in zip(admitted, found, strict=True):
            incoming, future, *_ = one
            if isinstance(outcome, Reservation):
                places.append((one, outcome))
            elif isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                outcome.until.add_done_callback(
                    lambda _, again=(incoming, future): self._add(*again)  # type: ignore[misc]
                )
        return places


def open_batch_receiver(context: Context, on_insert: Callable[[], None]) -> BatchReceiver | None:
    """A batch receiver for a server that grades by itself and stores files on its own disk.

    None for other servers. With a remote store, a group would wait for its slowest upload. With
    workers on other machines, they could read a file that is still only in this machine's journal.
    """
    if context.settings.queues or not isinstance(context.blobs, DiskBlobs):
        return None
    return BatchReceiver(context, SmallFiles(context.blobs), on_insert)


def _release(place: Reservation, row: Future[InsertedSubmission]) -> None:
    is_stored = not row.cancelled() and row.exception() is None and row.result().created
    place.release(is_stored=is_stored)


def _forward_result(
    row: Future[InsertedSubmission],
    future: Future[StoredSubmission],
    caller: Caller,
    run: RunRecord,
) -> None:
    def forward(row: Future[InsertedSubmission]) -> None:
        error = row.exception()
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(StoredSubmission(caller, run, row.result()))

    row.add_done_callback(forward)
