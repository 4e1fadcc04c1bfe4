"""The turns of senders: in order, and of each sender one request in a pass of the event loop."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from app.api.http.turns.sender_turns import MANY, PAUSE_SECONDS, STRANGERS_TURNS
from tests.api.sender_requests import Requests


@pytest.fixture(autouse=True)
def _no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.api.http.turns.sender_turns.TURN_SECONDS", 60.0)


@pytest.mark.parametrize("fails", [False, True])
def test_strangers_are_served_one_at_a_time_in_the_order_they_came(fails: bool) -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("first", "second", "third", fails=fails)
        assert requests.begun == ["first"]
        await requests.go_on("first")
        assert requests.begun == ["first", "second"]
        await requests.begin("fourth")
        await requests.go_on("second")
        await requests.go_on("third")
        assert requests.begun == ["first", "second", "third", "fourth"]

    asyncio.run(run())


async def begun_once(is_known: bool) -> tuple[Requests, dict[str, Any]]:
    """Requests, one of which was answered, and what others of its sender are sent with."""
    requests = Requests()
    more: dict[str, Any] = {"key": "right", "is_right": True} if is_known else {}
    await requests.begin("first", passes=True, **more)
    return requests, more


async def begun_in_passes(requests: Requests, names: list[str], **more: Any) -> list[int]:
    """How many have begun after each pass of the event loop."""
    begun = [len(requests.begun)]
    started = asyncio.create_task(requests.begin(*names, passes=True, **more))
    for _ in range(len(names) + 20):
        await asyncio.sleep(0)
        begun.append(len(requests.begun))
    await started
    return begun


@pytest.mark.parametrize("is_known", [False, True])
def test_of_requests_that_wait_for_nothing_one_begins_in_each_pass(is_known: bool) -> None:
    """All that had come were served before anybody else's request could go on."""

    async def run() -> None:
        requests, more = await begun_once(is_known)
        names = [str(number) for number in range(MANY)]
        begun = await begun_in_passes(requests, names, **more)
        assert max(after - before for before, after in itertools.pairwise(begun)) == 1
        assert requests.begun == ["first", *names]

    asyncio.run(run())


@pytest.mark.parametrize("is_known", [False, True])
def test_while_many_of_a_sender_wait_the_loop_has_time_for_others(is_known: bool) -> None:
    async def run() -> float:
        requests, more = await begun_once(is_known)
        started = asyncio.get_running_loop().time()
        await requests.begin(*map(str, range(MANY + 51)), passes=True, **more)
        await asyncio.wait(requests.tasks.values())
        assert len(requests.begun) == MANY + 52
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) > 50 * PAUSE_SECONDS


def test_the_loop_has_time_for_others_also_if_few_strangers_wait() -> None:
    """Who reads slowly and comes again when cut off kept another key waiting for a second."""

    async def run() -> float:
        requests = Requests()
        started = asyncio.get_running_loop().time()
        for number in range(50):
            names = [f"{number} {which}" for which in range(10)]
            await requests.begin(*names, passes=True)
            await asyncio.wait([requests.tasks[name] for name in names])
        pauses = 50 * 10 // STRANGERS_TURNS
        return (asyncio.get_running_loop().time() - started) / pauses

    assert asyncio.run(run()) > PAUSE_SECONDS


def test_strangers_on_the_machine_do_not_wait_for_those_on_the_network() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("far", "far too", peer="192.0.2.1")
        await requests.begin("near", "near too", peer="127.0.0.1")
        assert requests.begun == ["far", "near"]

    asyncio.run(run())


def test_a_stranger_waits_for_one_request_of_each_other_address() -> None:
    """A log-in, or a health check from another machine, waited for all of a flood."""

    async def run() -> None:
        requests = Requests()
        await requests.begin("a1", "a2", "a3", "a4", peer="192.0.2.1")
        await requests.begin("b1", "b2", peer="192.0.2.2")
        await requests.begin("c1", peer="192.0.2.3")
        for name in ("a1", "a2", "b1", "c1", "a3", "b2"):
            await requests.go_on(name)
        assert requests.begun == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]
        # Nobody asks for what is kept, but it would grow for as long as the server runs.
        assert not requests.turns._strangers[False]._waiting  # noqa: SLF001

    asyncio.run(run())


def test_a_key_is_known_while_its_first_answer_goes_on() -> None:
    """An event stream lasts for hours."""

    async def run() -> None:
        requests = Requests()
        await requests.begin("stream", key="right", is_right=True)
        await requests.go_on("stream")
        await requests.begin("stranger")
        await requests.begin("k1", "k2", key="right", is_right=True)
        assert requests.begun == ["stream", "stranger", "k1", "k2"]

    asyncio.run(run())


def test_a_key_is_known_after_a_fault() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("k1", key="right", is_right=True, fails=True)
        await requests.go_on("k1")
        await requests.begin("stranger")
        await requests.begin("k2", key="right", is_right=True)
        assert requests.begun == ["k1", "stranger", "k2"]

    asyncio.run(run())


def test_keys_do_not_wait_for_one_another() -> None:
    async def run() -> None:
        requests = Requests()
        for key in ("a", "b"):
            await requests.begin(f"{key}0", key=key, is_right=True, passes=True)
        many = [f"a{number}" for number in range(1, 40)]
        started = asyncio.create_task(requests.begin(*many, key="a", is_right=True))
        await asyncio.sleep(0)
        await requests.begin("b1", key="b", is_right=True)
        assert "b1" in requests.begun
        assert len(requests.begun) < 30
        await started

    asyncio.run(run())


def test_nothing_is_kept_of_a_sender_without_requests() -> None:
    async def run() -> None:
        requests = Requests()
        for _ in range(2):
            await requests.begin("k1", "k2", "k3", key="right", is_right=True, passes=True)
        # Nobody asks for what is kept, but it would grow for as long as the server runs.
        assert not requests.turns._queues  # noqa: SLF001

    asyncio.run(run())


def test_a_key_that_was_not_found_valid_yet_waits_like_a_stranger() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("stranger")
        await requests.begin("k1", "k2", key="right", is_right=True)
        await requests.begin("w1", "w2", key="wrong")
        assert requests.begun == ["stranger"]
        for name in ("stranger", "k1", "k2", "w1", "w2"):
            await requests.go_on(name)
        assert requests.begun == ["stranger", "k1", "k2", "w1", "w2"]

    asyncio.run(run())


def test_a_valid_key_waits_once_and_a_wrong_one_always() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("k1", key="right", is_right=True, passes=True)
        await requests.begin("w1", key="wrong", passes=True)
        await requests.begin("stranger", "other")
        await requests.begin("w2", "w3", key="wrong")
        await requests.begin("k2", "k3", key="right", is_right=True)
        assert requests.begun == ["k1", "w1", "stranger", "k2", "k3"]

    asyncio.run(run())


def test_a_turn_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's request that waits for a database must not keep all others waiting."""
    monkeypatch.setattr("app.api.http.turns.sender_turns.TURN_SECONDS", 1.0)

    async def run() -> None:
        requests = Requests()
        await requests.begin("first", "second")
        assert requests.begun == ["first"]
        while len(requests.begun) == 1:
            await asyncio.sleep(0.01)
        await requests.go_on("first")  # it gives back no turn that is another's
        await requests.begin("third")
        assert requests.begun == ["first", "second"]

    asyncio.run(asyncio.wait_for(run(), 10))
