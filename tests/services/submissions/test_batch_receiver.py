"""Small submissions are stored in groups, and a claim is told of each group in time."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.domain.states import Role
from app.errors import QuotaExceeded, StorageFull
from app.services.grading.submission_claims import SubmissionClaims
from app.services.new_keys import new_key
from app.services.runtime.context import Context
from app.services.submissions.batch_receiver import (
    GROUP_SIZE,
    BatchReceiver,
    IncomingSubmission,
)
from app.services.submissions.submit import Sender, SubmissionMeta, new_submission_id
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord
from app.storage.queries import keys, submissions
from app.units import MEGABYTE
from tests.storage.make import add_run
from tests.system_limits import largest_file


def add_key(context: Context, run: RunRecord) -> str:
    """Store a key of the run, and return it."""
    key, record = new_key(Role.RUN, "of the run", run_id=run.id)
    context.database.write(lambda session: keys.add_key(session, record))
    return key


def incoming(run: RunRecord, key: str, number: int) -> IncomingSubmission:
    data = f"id,count\nr1,{number}\n".encode()
    blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
    sender = Sender(key, run.id, None)
    return IncomingSubmission(new_submission_id(), sender, data, blob, SubmissionMeta("", None))


def test_a_claim_asked_for_as_rows_are_inserted_finds_them_all(
    context: Context, run: RunRecord
) -> None:
    key = add_key(context, run)
    claims, claimed = SubmissionClaims(context), []

    def claim() -> None:
        claimed.extend(claims.claim(64) or [])

    assert isinstance(context.blobs, DiskBlobs)
    sent = [incoming(run, key, number) for number in range(12)]
    with contextlib.closing(BatchReceiver(context, SmallFiles(context.blobs), claim)) as receiver:
        stored = [receiver.receive(one) for one in sent]
        assert {one.result(30).received.created for one in stored} == {True}

    assert {one.id for one in claimed} == {one.submission_id for one in sent}


def receive_together(context: Context, sent: list[IncomingSubmission]) -> list[Any]:
    """Receive submissions as one group; the error of each."""
    assert isinstance(context.blobs, DiskBlobs)
    is_busy, may_go_on = threading.Event(), threading.Event()

    def hold() -> None:
        is_busy.set()
        may_go_on.wait(30)

    with contextlib.closing(BatchReceiver(context, SmallFiles(context.blobs), hold)) as receiver:
        # The receiver is held in a group of its own, of one that is refused, while all others come.
        receiver.receive(replace(sent[0], sender=Sender("pod_unknown", "run_unknown", None)))
        assert is_busy.wait(30)
        waiting = [receiver.receive(one) for one in sent]
        may_go_on.set()
        return [future.exception(30) for future in waiting]


def test_a_file_that_cannot_be_stored_fails_no_other_of_its_group(
    context: Context, run: RunRecord
) -> None:
    key = add_key(context, run)
    assert isinstance(context.blobs, DiskBlobs)
    sent = [incoming(run, key, number) for number in range(4)]
    context.blobs.path(sent[1].blob.sha256).mkdir()  # where nothing can be stored
    unreadable = context.blobs.path(sent[2].blob.sha256)
    unreadable.symlink_to(unreadable)  # it cannot be opened, for root either

    failures = receive_together(context, sent)

    assert isinstance(failures[1], IsADirectoryError)
    assert failures[0] is failures[2] is failures[3] is None
    assert unreadable.read_bytes() == sent[2].data


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run store a megabyte: the disk of the tests may have less free than the default."""
    monkeypatch.setenv("PODIUM_RUN_STORED_MB", "1")


def test_a_file_that_cannot_be_stored_uses_up_no_bytes_of_its_run(
    small_limit: None, context: Context, run: RunRecord
) -> None:
    key = add_key(context, run)
    assert isinstance(context.blobs, DiskBlobs)
    one = incoming(run, key, 1)
    context.blobs.path(one.blob.sha256).mkdir()
    one = replace(one, blob=Blob(one.blob.sha256, MEGABYTE))

    failures = [receive_together(context, [one])[0] for _ in range(2)]
    context.blobs.path(one.blob.sha256).rmdir()
    last = receive_together(context, [one])[0]

    assert [type(failure) for failure in failures] == [IsADirectoryError] * 2
    assert last is None
    with pytest.raises(QuotaExceeded):
        context.reservations.stored.require(context.database, run.id, 1)


def test_a_run_that_cannot_be_read_fails_no_other_of_its_group(
    context: Context, run: RunRecord
) -> None:
    sent = []
    damaged = add_run(context.database, context.catalogue.version(run.version_id), "damaged")
    for number, one in enumerate((run, damaged, run)):
        key = add_key(context, one)
        sent.append(incoming(one, key, number))

    def damage(session: Session) -> None:
        session.execute(text("PRAGMA ignore_check_constraints = ON"))
        statement = text("UPDATE run SET feedback = 'nonsense' WHERE id = :id")
        session.execute(statement, {"id": damaged.id})

    context.database.write(damage)

    first, second, third = receive_together(context, sent)

    assert isinstance(second, LookupError)
    assert first is third is None


def test_a_file_that_waited_for_one_that_cannot_be_stored_is_tried_itself(
    context: Context, run: RunRecord
) -> None:
    key = add_key(context, run)
    large, waiting = (
        replace(incoming(run, key, number), meta=SubmissionMeta("", "same")) for number in (1, 2)
    )
    data = bytes(300_000)
    large = replace(large, data=data, blob=Blob(hashlib.sha256(data).hexdigest(), len(data)))

    with largest_file(250_000):  # the journal of the first group cannot be written
        refused, stored = receive_together(context, [large, waiting])

    assert isinstance(refused, OSError | StorageFull)
    assert stored is None
    with context.database.read() as session:
        known = submissions.by_idempotency_key(session, run.id, "same")
    assert known is not None
    assert known.id == waiting.submission_id


def test_a_receiver_that_is_closed_stores_all_that_wait(context: Context, run: RunRecord) -> None:
    key = add_key(context, run)
    assert isinstance(context.blobs, DiskBlobs)
    sent = [incoming(run, key, number) for number in range(3 * GROUP_SIZE)]

    receiver = BatchReceiver(context, SmallFiles(context.blobs), lambda: None)
    stored = [receiver.receive(one) for one in sent]
    receiver.close()

    assert all(one.result(30).received.created for one in stored)
