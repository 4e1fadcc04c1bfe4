"""A place of a run is not kept by a request that has ended."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.errors import DamagedFile, QuotaExceeded, StoreAway
from app.services.runtime.context import Context, open_context
from app.services.runtime.reservations import Reservation, WantedPlace
from app.services.submissions.submit import (
    SubmissionMeta,
    new_submission,
    store_bytes,
    verified_file,
)
from app.settings import Settings
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord
from app.units import MEGABYTE
from tests.s3 import S3Server, wait_for_listings
from tests.storage.make import make_world
from tests.system_limits import no_more_threads

BLOB = Blob("a" * 64, 10)


def test_a_request_without_a_thread_keeps_no_place(context: Context, run: RunRecord) -> None:
    async def ask_in_vain() -> None:
        meta = SubmissionMeta("", "key")
        with no_more_threads(), pytest.raises(RuntimeError, match="can't start new thread"):
            await store_bytes(context, run, "sub_1", BLOB, lambda: BLOB, meta)
        await asyncio.to_thread(print)  # this thread does first what waits for one

    asyncio.run(ask_in_vain())

    wanted = WantedPlace(run, BLOB, "key")
    (found,) = context.reservations.reserve(context.database, [wanted], datetime.now(UTC))
    assert isinstance(found, Reservation)


def test_bytes_that_the_store_did_not_take_use_up_none_of_the_runs(
    context: Context, run: RunRecord
) -> None:
    """While the store is away a client tries again, and was told to wait a day after some times."""
    most = Blob("b" * 64, context.settings.run_stored_mb * MEGABYTE)

    def away() -> Blob:
        raise StoreAway("The store is away.")

    for number in range(2):
        meta = SubmissionMeta("", f"key {number}")
        with pytest.raises(StoreAway):
            asyncio.run(store_bytes(context, run, f"sub_{number}", most, away, meta))
    again = SubmissionMeta("", "key 1")
    stored = asyncio.run(store_bytes(context, run, "sub_3", most, lambda: most, again))

    assert stored.created
    with pytest.raises(QuotaExceeded):
        context.reservations.stored.require(context.database, run.id, 1)


def test_no_copy_that_a_grading_fetched_makes_a_download_quick(
    migrated_sqlite: Path, tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a run are graded in turn: else the time tells when the one before was graded."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    file, bucket = shutil.copyfile(migrated_sqlite, tmp_path / "context.db"), s3.bucket()
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", blobs_url=f"s3://{bucket}"
    )
    context = open_context(settings, grades=False, validates=False)
    with contextlib.closing(context):
        world = make_world(context.database)
        blob = context.blobs.put(b"id,count\nr1,1\n")
        sent = new_submission(world.run, "sub_1", blob, SubmissionMeta("", None))
        context.blobs.lease(blob.sha256).close()  # as a grading does
        for stored in s3.objects(bucket):
            stored.unlink()
        wait_for_listings()

        with pytest.raises(DamagedFile):
            verified_file(context, sent)
