"""Event streams take no threads of submissions, nor long ones those of streams that begin."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from app.api.http.threads import read_events, read_history, run_in_thread


@pytest.mark.parametrize(
    ("busy", "free"),
    [(read_events, run_in_thread), (read_history, run_in_thread), (read_history, read_events)],
)
def test_streams_that_read_leave_the_threads_of_others_free(
    busy: Callable[[Callable[[], None]], Awaitable[None]],
    free: Callable[[Callable[[], str]], Awaitable[str]],
) -> None:
    over, names = threading.Event(), []

    def read() -> None:
        names.append(threading.current_thread().name)
        over.wait(30)

    async def ask_beside_a_hundred_streams() -> str:
        streams = [asyncio.ensure_future(busy(read)) for _ in range(100)]
        try:
            name = await asyncio.wait_for(free(lambda: threading.current_thread().name), 5)
            assert not any(stream.done() for stream in streams)
        finally:
            over.set()
        await asyncio.gather(*streams)
        return name

    assert asyncio.run(ask_beside_a_hundred_streams()) not in names
    assert len(names) == 100
