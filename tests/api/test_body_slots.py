"""The budget of bodies in memory: who waits, and who is passed by."""

from __future__ import annotations

import asyncio
import contextlib

from app.api.http.turns.body_slots import Budget, Release


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_holder_waits_for_its_own_and_delays_nobody_else():
    async def run() -> None:
        budget = Budget(100, 20)
        first = await budget.take("a", 20)
        second = asyncio.create_task(budget.take("a", 10))
        other = asyncio.create_task(budget.take("b", 20))
        await settle()
        assert (second.done(), other.done()) == (False, True)
        first()
        await settle()
        assert second.done()

    asyncio.run(run())


def test_a_full_budget_serves_in_turn_and_gives_back_once():
    async def run() -> None:
        budget = Budget(30, 30)
        first = await budget.take("a", 30)
        large = asyncio.create_task(budget.take("b", 25))
        small = asyncio.create_task(budget.take("c", 10))
        await settle()
        assert not large.done()
        assert not small.done()  # it does not pass the one that came before
        first()
        first()
        await settle()
        assert (large.done(), small.done()) == (True, False)
        large.result()()
        await settle()
        assert small.done()

    asyncio.run(run())


def test_a_body_beyond_the_budget_is_served_alone():
    async def run() -> None:
        budget = Budget(10, 10)
        release: Release = await budget.take("a", 50)
        waiting = asyncio.create_task(budget.take("b", 1))
        await settle()
        assert not waiting.done()
        release()
        await settle()
        assert waiting.done()

    asyncio.run(run())


def test_who_gives_up_waiting_takes_nothing():
    async def run() -> None:
        budget = Budget(10, 10)
        release = await budget.take("a", 10)
        gone = asyncio.create_task(budget.take("b", 10))
        await settle()
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
        release()
        again = asyncio.create_task(budget.take("c", 10))
        await settle()
        assert again.done()

    asyncio.run(run())


def test_bodies_fill_a_budget_to_its_last_byte():
    async def run() -> None:
        for most, of_holder in ((20, 30), (30, 20)):
            budget = Budget(most, of_holder)
            taken = [asyncio.create_task(budget.take("a", 10)) for _ in range(3)]
            await settle()
            assert [one.done() for one in taken] == [True, True, False]
            taken[2].cancel()

    asyncio.run(run())


def test_a_turn_that_comes_as_its_holder_gives_up_is_passed_on():
    async def run() -> None:
        budget = Budget(10, 10)
        release = await budget.take("a", 10)
        gone = asyncio.create_task(budget.take("b", 10))
        await settle()
        release()
        gone.cancel()
        last = asyncio.create_task(budget.take("c", 10))
        await settle()
        assert (gone.cancelled(), last.done()) == (True, True)

    asyncio.run(run())
