"""Files on their way to a slow store: small ones pass large ones."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

from app.services.runtime.context import Context
from app.services.submissions.storing_threads import LARGE_BYTES
from app.services.submissions.submit import SubmissionMeta, new_submission_id, store_bytes
from app.storage.blobs.store import Blob
from tests.storage.make import World

LARGE = 60  # more than any pool has threads


def test_large_files_keep_no_small_one_waiting(context: Context, here: World) -> None:
    may_end, begun = threading.Event(), threading.Event()
    small = context.blobs.put(b"small")

    async def store(blob: Blob, *, waits: bool) -> int:
        def put() -> Blob:
            if waits:
                begun.set()
                assert may_end.wait(60)
            return blob

        stored = await store_bytes(
            context, here.run, new_submission_id(), blob, put, SubmissionMeta("", None)
        )
        return stored.submission.bytes

    async def store_all() -> list[int]:
        large = replace(small, bytes=LARGE_BYTES + 1)
        waiting = [asyncio.create_task(store(large, waits=True)) for _ in range(LARGE)]
        try:
            while not begun.is_set():
                await asyncio.sleep(0)
            of_small = await asyncio.wait_for(store(small, waits=False), 20)
        finally:
            may_end.set()
        return [of_small, *await asyncio.gather(*waiting)]

    assert asyncio.run(store_all()) == [small.bytes, *[LARGE_BYTES + 1] * LARGE]
