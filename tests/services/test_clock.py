"""The server's clock is set back: rows of before lie in the future."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, Role, RunState
from app.receipts import ed25519
from app.services.auth import Caller
from app.services.experiments import archiving, runs
from app.services.public_log.append import KEY_ENTRY, append_log_entry
from app.services.receipts import keys, log_view
from app.services.receipts.check_database import check_trust
from app.services.runtime.context import Context
from app.services.submissions import pending_uploads
from app.services.submissions.wait_for_outcome import wait_until_shown
from app.storage.database.models import Run
from app.storage.database.tables.acts import Archival
from app.storage.database.tables.receipts import LogEntry
from app.storage.queries import exposure, submission_counts
from app.storage.queries import pending_uploads as queries
from app.storage.queries.ids import continue_ids, first_id, new_id
from app.storage.queries.overview.experiments import list_experiments
from app.storage.queries.pending_uploads import PendingUploadRecord
from app.storage.queries.result_state import result_state
from app.storage.queries.trust import signing_keys
from app.storage.queries.trust.signing_keys import SigningKeyRecord
from tests.storage.make import World, add_submission, make_submission

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def microseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def test_ids_continue_after_those_of_a_clock_that_was_ahead(context: Context, here: World) -> None:
    ahead = first_id("sub", microseconds(datetime.now(UTC) + HOUR)) + "0" * 12
    here.submit(id=ahead)
    with context.database.read() as session:
        continue_ids(session)
    ids = [new_id("sub") for _ in range(100)]
    assert ids == sorted(ids)
    assert ids[0] > ahead
    assert {len(one) for one in ids} == {len(ahead)}


@pytest.mark.parametrize("odd", ["sub_1", "sub_" + "f" * 26, "zzz"])
def test_ids_that_podium_does_not_make_stop_no_start(
    context: Context,
    here: World,
    odd: str,
) -> None:
    here.submit(id=odd)
    with context.database.read() as session:
        continue_ids(session)
    assert len(new_id("sub")) == 30


def test_a_wait_ends_although_the_file_was_received_in_the_future(
    context: Context,
    here: World,
) -> None:
    run = replace(here.run, feedback=Feedback.PUBLIC)
    sent = make_submission(run, received_at=datetime.now(UTC) + HOUR)
    caller = Caller(Role.RUN, "key_1", run.id)

    async def wait() -> None:
        settled = asyncio.Event()
        settled.set()
        await asyncio.wait_for(wait_until_shown(context, caller, run, sent, settled, 60.0), 5)

    asyncio.run(wait())


@pytest.mark.parametrize(("ahead", "counted"), [(HOUR, 1), (DAY * 40, 0)])
def test_a_file_of_a_clock_weeks_ahead_uses_up_no_day(
    context: Context,
    here: World,
    ahead: timedelta,
    counted: int,
) -> None:
    now = datetime.now(UTC)
    here.submit(received_at=now + ahead)
    with context.database.read() as session:
        found = submission_counts.count_counted(session, here.run.id, since=now - DAY)
    assert found == counted


def test_a_key_that_is_rotated_after_the_clock_was_set_back_stays_good_for_what_it_signed(
    context: Context,
) -> None:
    later = (datetime.now(UTC) + HOUR).replace(microsecond=0)
    old = SigningKeyRecord(
        id=first_id("sig", microseconds(later)) + "0" * 12, name="podium", public_key="",
        valid_after=later,
    )  # fmt: skip
    old = _with_real_key(context, old)

    def append() -> datetime:
        write = lambda session: append_log_entry(context, session, "amendment", {})  # noqa: E731
        return context.database.write(write).at

    times = [append(), append()]
    keys.rotate(context)
    times += [append(), append()]

    retired, present = sorted(log_view.keys(context), key=lambda key: key.valid_before is None)
    assert retired.id == old.id
    assert retired.valid_before is not None
    assert all(retired.valid_after <= at < retired.valid_before for at in times[:2])
    assert all(present.valid_after <= at for at in times[2:])
    assert times == sorted(set(times))
    with context.database.read() as session:
        assert list(check_trust(session)) == []


def test_kept_results_end_with_an_archiving_after_the_clock_was_set_back(
    context: Context, here: World
) -> None:
    close = update(Run).values(state=RunState.CLOSED)
    context.database.write(lambda session: session.execute(close) and None)

    def states() -> tuple[object, object]:
        with context.database.read() as session:
            (listed,), _ = list_experiments(session, name=here.run.experiment, limit=1)
            return listed.state, result_state(session).shared

    archiving.archive(context, ArchivalKind.RUN, here.other_run.id, "a trial", by=None)
    _set_back(context)
    for act in (archiving.archive, archiving.restore):
        before = states()
        act(context, ArchivalKind.RUN, here.run.id, "a mistake", by=None)
        after = states()
        assert None not in (before[0], after[0])
        assert [old == new for old, new in zip(before, after, strict=True)] == [False, False]


def _set_back(context: Context) -> None:
    """All times that are stored so far are those of a clock that was an hour ahead."""
    later = (datetime.now(UTC) + HOUR).replace(microsecond=0)

    def change(session: Session) -> None:
        session.execute(update(Archival).values(archived_at=later, restored_at=later))
        session.execute(update(LogEntry).values(at=later))

    context.database.write(change)


def _with_real_key(context: Context, record: SigningKeyRecord) -> SigningKeyRecord:
    private = ed25519.new_private_key()
    record = replace(record, public_key=ed25519.public_key(private).hex())
    made = {"key": record.id, "public_key": record.public_key, "act": "made"}

    def add(session: Session) -> None:
        signing_keys.add(session, record, private)
        append_log_entry(context, session, KEY_ENTRY, made)

    context.database.write(add)
    return record


def test_an_upload_is_kept_although_others_of_its_run_came_in_the_future(
    context: Context, here: World
) -> None:
    later = datetime.now(UTC) + 40 * DAY
    others = [
        PendingUploadRecord(
            nonce=f"nonce{number}", run_id=here.run.id, name=f"name{number}", sha256="ab" * 32,
            bytes=3, came_at=later, until=later + HOUR,
        )
        for number in range(4)
    ]  # fmt: skip
    for one in others:
        context.database.write(lambda session, one=one: queries.add(session, one))
    upload = context.blobs.new_upload()
    upload.write(b"new")
    pending_uploads.add(context, upload, "new", here.run.id, datetime.now(UTC) + HOUR)

    assert pending_uploads.find(context, "new", here.run.id) is not None
    left = [pending_uploads.find(context, one.nonce, here.run.id) for one in others]
    assert sum(one is not None for one in left) == 3


def test_a_run_is_closed_after_its_last_disclosure(context: Context, here: World) -> None:
    sent = here.submit()
    later = datetime.now(UTC) + HOUR
    context.database.write(
        lambda session: exposure.record(session, here.run.id, "validation", sent.id, None, later)
    )
    changed = runs.change(context, here.run.id, close=True, usage=None, failure=None)
    assert (changed.state, changed.closed_at) == (RunState.CLOSED, later)


def test_a_run_is_closed_after_its_start_and_its_last_file(context: Context, here: World) -> None:
    later = datetime.now(UTC) + HOUR
    files = [make_submission(here.run), make_submission(here.other_run, received_at=later + HOUR)]

    def set_times(session: Session) -> None:
        for file in files:
            add_submission(session, file)
        session.execute(update(Run).values(started_at=later))

    context.database.write(set_times)
    closed = [
        runs.change(context, file.run_id, close=True, usage=None, failure=None).closed_at
        for file in files
    ]
    assert closed == [later, later + HOUR]
