"""Where small submissions are taken in: those that come together are looked after together.

Most submissions are a few kilobytes. What they cost is not their bytes but being handed from
thread to thread, a session each to look up the key, a sync each. So one thread takes all that
wait, asks the database once who may send, stores the bytes, and gives the rows to the intake.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import InsertedSubmission
from app.services.submissions.submit import SubmissionMeta, admit_all, store
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from app.storage.database.records import RunRecord

GROUP = 128  # bounds how long one waits for the syncs of others


@dataclass(frozen=True, slots=True)
class IncomingSubmission:
    """A submission whose bytes have come, the run it is for, and the key that came with it."""

    submission_id: str
    run_id: str
    key: str | None
    data: bytes
    offer: SubmissionMeta


@dataclass(frozen=True, slots=True)
class StoredSubmission:
    """A submission that is stored, bytes and row synced, and whose it is."""

    caller: Caller
    run: RunRecord
    received: InsertedSubmission


class BatchReceiver:
    """One thread, which is started by the first incoming; closed before the context is."""

    def __init__(self, context: Context, blobs: SmallFiles) -> None:
        self._context = context
        self._blobs = blobs
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="batch-receiver")
        self._lock = threading.Lock()
        self._waiting: list[tuple[IncomingSubmission, Future[StoredSubmission]]] = []

    def receive(self, incoming: IncomingSubmission) -> Future[StoredSubmission]:
        """Hand in a submission; done once its bytes and its row are on disk, synced.

        The future raises what `submit.admit`, `SmallFiles.put_all` and `submit.store` raise: then
        nothing was stored.
        """
        future: Future[StoredSubmission] = Future()
        with self._lock:
            self._waiting.append((incoming, future))
            is_first = len(self._waiting) == 1
        if is_first:  # whoever comes before the thread has time goes along with this one
            self._thread.submit(self._receive_group)
        return future

    def close(self) -> None:
        """Take in what waits, then stop."""
        self._thread.shutdown()
        self._blobs.close()

    def _receive_group(self) -> None:
        with self._lock:
            group, self._waiting = self._waiting[:GROUP], self._waiting[GROUP:]
            is_more = bool(self._waiting)
        if is_more:
            self._thread.submit(self._receive_group)
        try:
            self._store_group(group)
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)

    def _store_group(
        self, group: Sequence[tuple[IncomingSubmission, Future[StoredSubmission]]]
    ) -> None:
        admitted = []
        asked = [(incoming.key, incoming.run_id) for incoming, _ in group]
        for (incoming, future), admission in zip(
            group, admit_all(self._context, asked), strict=True
        ):
            if isinstance(admission, Exception):
                future.set_exception(admission)
            else:
                admitted.append((incoming, future, *admission))
        blobs = self._blobs.put_all([incoming.data for incoming, *_ in admitted])
        for (incoming, future, caller, run), blob in zip(admitted, blobs, strict=True):
            if isinstance(blob, Exception):
                future.set_exception(blob)
                continue
            row = store(self._context, run, incoming.submission_id, blob, incoming.offer)
            _pass_on(row, future, caller, run)


def open_batch_receiver(context: Context) -> BatchReceiver | None:
    """The reception of a server that grades for itself, with its files on its own disk.

    None elsewhere. A group would wait for its slowest upload to another machine; and a journal is
    settled by whoever opens the store on this machine, while workers on others would read on.
    """
    if context.settings.queues or not isinstance(context.blobs, DiskBlobs):
        return None
    return BatchReceiver(context, SmallFiles(context.blobs))


def _pass_on(
    row: Future[InsertedSubmission],
    future: Future[StoredSubmission],
    caller: Caller,
    run: RunRecord,
) -> None:
    def written(row: Future[InsertedSubmission]) -> None:
        error = row.exception()
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(StoredSubmission(caller, run, row.result()))

    row.add_done_callback(written)
