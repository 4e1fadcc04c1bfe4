"""Small submissions are stored in groups, and a claim is told of each group in time."""

from __future__ import annotations

import contextlib
import hashlib
from concurrent.futures import Future

from app.domain.states import Role
from app.services.auth import new_key
from app.services.grading.submission_claims import SubmissionClaims
from app.services.runtime.context import Context
from app.services.submissions.batch_receiver import (
    BatchReceiver,
    IncomingSubmission,
    StoredSubmission,
)
from app.services.submissions.submit import SubmissionMeta, new_submission_id
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord
from app.storage.queries import keys


def incoming(run: RunRecord, key: str, number: int) -> IncomingSubmission:
    data = f"id,count\nr1,{number}\n".encode()
    blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
    return IncomingSubmission(
        new_submission_id(), run.id, key, data, blob, SubmissionMeta("", None)
    )


def test_a_claim_asked_for_as_rows_are_inserted_finds_them_all(
    context: Context, run: RunRecord
) -> None:
    key, record = new_key(Role.RUN, "of the run", run_id=run.id)
    context.database.write(lambda session: keys.add_key(session, record))
    claims, claimed = SubmissionClaims(context), []

    def claim() -> None:
        claimed.extend(claims.claim(64) or [])

    assert isinstance(context.blobs, DiskBlobs)
    sent = [incoming(run, key, number) for number in range(12)]
    with contextlib.closing(BatchReceiver(context, SmallFiles(context.blobs), claim)) as receiver:
        stored = [receiver.receive(one) for one in sent]
        assert {one.result(30).received.created for one in stored} == {True}

    assert {one.id for one in claimed} == {one.submission_id for one in sent}


def test_a_file_that_cannot_be_stored_fails_no_other_of_its_group(
    context: Context, run: RunRecord
) -> None:
    key, record = new_key(Role.RUN, "of the run", run_id=run.id)
    context.database.write(lambda session: keys.add_key(session, record))
    assert isinstance(context.blobs, DiskBlobs)
    sent = [incoming(run, key, number) for number in range(4)]
    context.blobs.path(sent[1].blob.sha256).mkdir()  # where nothing can be stored
    unreadable = context.blobs.path(sent[2].blob.sha256)
    unreadable.symlink_to(unreadable)  # it cannot be opened, for root either

    with contextlib.closing(
        BatchReceiver(context, SmallFiles(context.blobs), lambda: None)
    ) as receiver:
        with receiver._lock:  # so that they join one group
            waiting = [(one, Future[StoredSubmission]()) for one in sent]
            receiver._waiting = list(waiting)
        receiver._receive_group()
        failures = [future.exception(30) for _, future in waiting]

    assert isinstance(failures[1], IsADirectoryError)
    assert failures[0] is failures[2] is failures[3] is None
    assert unreadable.read_bytes() == sent[2].data
