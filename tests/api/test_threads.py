"""Event streams never take the threads of submissions."""

from __future__ import annotations

import asyncio
import threading

from app.api.http.threads import read_events, run_in_thread


def test_streams_that_read_leave_the_threads_of_submissions_free() -> None:
    over, names = threading.Event(), []

    def read() -> None:
        names.append(threading.current_thread().name)
        over.wait(30)

    async def submit_beside_a_hundred_streams() -> str:
        streams = [asyncio.ensure_future(read_events(read)) for _ in range(100)]
        try:
            name = await asyncio.wait_for(run_in_thread(lambda: threading.current_thread().name), 5)
            assert not any(stream.done() for stream in streams)
        finally:
            over.set()
        await asyncio.gather(*streams)
        return name

    assert asyncio.run(submit_beside_a_hundred_streams()) not in names
    assert len(names) == 100
