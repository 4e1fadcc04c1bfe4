"""Threads for streams that read long histories."""

from __future__ import annotations

import asyncio
import time

from app.api.http.threads import HISTORY_RESTS, read_history

PAGES, SECONDS = 4, 0.02


def compute() -> int:
    """Take a processor for some time."""
    begun = time.thread_time()
    while time.thread_time() - begun < SECONDS:
        pass
    return 1


async def read_pages() -> list[float]:
    """Read pages one after another; when each came."""
    begun = time.perf_counter()
    came = []
    for _ in range(PAGES):
        assert await read_history(compute) == 1
        came.append(time.perf_counter() - begun)
    return came


def test_the_thread_for_histories_rests_after_each_page() -> None:
    came = asyncio.run(read_pages())
    assert came[-1] - came[0] > (PAGES - 1) * SECONDS * (1 + HISTORY_RESTS) * 0.99


def test_a_page_that_fails_is_rested_after_too() -> None:
    async def fail_and_read() -> float:
        failed = await asyncio.gather(
            read_history(lambda: 1 // (compute() - 1)), return_exceptions=True
        )
        assert isinstance(failed[0], ZeroDivisionError)
        begun = time.perf_counter()
        await read_history(compute)
        return time.perf_counter() - begun

    assert asyncio.run(fail_and_read()) > SECONDS * HISTORY_RESTS * 0.9
