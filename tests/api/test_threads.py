"""Threads for streams that read long histories, and for files that are long in the finding."""

from __future__ import annotations

import asyncio
import threading
import time

from app.api.http.threads import HISTORY_RESTS, find_file, read_history
from app.errors import StoreAway

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


def test_those_who_wait_for_a_file_keep_nobody_from_another() -> None:
    may_end, counts = threading.Event(), {"now": 0, "most": 0}

    def find() -> str:
        counts["now"] += 1
        counts["most"] = max(counts.values())
        assert may_end.wait(30)
        counts["now"] -= 1
        return "large"

    async def ask() -> list[str]:
        large = [asyncio.create_task(find_file("large", find)) for _ in range(50)]
        while not counts["now"]:
            await asyncio.sleep(0)
        other = await find_file("other", lambda: "other")
        may_end.set()
        return [other, *await asyncio.gather(*large)]

    assert asyncio.run(ask()) == ["other", *["large"] * 50]
    assert counts == {"now": 0, "most": 1}


def test_those_who_wait_for_a_file_that_is_not_found_fail_with_the_first() -> None:
    asked: list[int] = []

    def fail() -> None:
        asked.append(1)
        raise StoreAway("The store is away.")

    async def ask(number: int) -> list[BaseException | None]:
        return await asyncio.gather(
            *(find_file("gone", fail) for _ in range(number)), return_exceptions=True
        )

    answers = asyncio.run(ask(30))
    assert {str(answer) for answer in answers} == {"The store is away."}
    assert len({id(answer) for answer in answers}) == 30  # one for all would gather tracebacks
    assert len(asked) == 1
    asyncio.run(ask(1))
    assert len(asked) == 2  # the next one tries again
