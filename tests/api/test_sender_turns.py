"""The turns of senders: in order, one request in a pass, and none whose client has gone."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from app.api.http.turns.sender_turns import MANY, PAUSE_SECONDS, WAITING, SenderTurns

WITH_BODY = [(b"content-length", b"2")]


class Requests:
    """An application behind turns, and the requests to it, which go on when a test lets them."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.read: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.bodies: dict[str, asyncio.Event] = {}
        self.scopes: dict[str, Scope] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.turns = SenderTurns(
            self._application, lambda scope: scope["key"], lambda scope: scope["was_found"]
        )

    async def _application(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["name"]
        self.begun.append(name)
        if scope["is_right"]:
            scope["was_found"] = True
        if scope["headers"]:
            self.read.append((await receive())["type"])
        if scope["passes"]:
            return
        await self.gates[name].wait()
        if scope["fails"]:
            raise RuntimeError(name)
        await send({"type": "http.response.start", "status": 200})
        await asyncio.Event().wait()

    async def begin(self, *names: str, key: str | None = None, **more: Any) -> None:
        for name in names:
            scope = {"type": "http", "name": name, "key": key, "headers": [], "is_right": False,
                     "was_found": False, "fails": False, "passes": False, **more}  # fmt: skip
            self.scopes[name] = scope
            self.gates[name], self.bodies[name] = asyncio.Event(), asyncio.Event()
            self.tasks[name] = asyncio.create_task(self.turns(scope, self._receive(name), send))
        await settle()

    def _receive(self, name: str) -> Receive:
        async def receive() -> Message:
            await self.bodies[name].wait()
            return {"type": "http.request", "body": b"{}"}

        return receive

    async def go_on(self, name: str) -> None:
        self.gates[name].set()
        await settle()


async def send(message: Message) -> None:
    await asyncio.sleep(0)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


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
        requests = Requests()
        more: dict[str, Any] = {"key": "right", "is_right": True} if is_known else {}
        await requests.begin("first", passes=True, **more)
        names = [str(number) for number in range(MANY)]
        begun = await begun_in_passes(requests, names, **more)
        assert max(after - before for before, after in itertools.pairwise(begun)) == 1
        assert requests.begun == ["first", *names]

    asyncio.run(run())


@pytest.mark.parametrize("is_known", [False, True])
def test_while_many_of_a_sender_wait_the_loop_has_time_for_others(is_known: bool) -> None:
    async def run() -> float:
        requests = Requests()
        more: dict[str, Any] = {"key": "right", "is_right": True} if is_known else {}
        await requests.begin("first", passes=True, **more)
        started = asyncio.get_running_loop().time()
        await requests.begin(*map(str, range(MANY + 51)), passes=True, **more)
        await asyncio.wait(requests.tasks.values())
        assert len(requests.begun) == MANY + 52
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) > 50 * PAUSE_SECONDS


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
        assert not requests.turns._queues

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


def test_a_body_is_awaited_without_the_turn() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("slow", headers=WITH_BODY)
        await requests.begin("second", "third")
        assert requests.begun == ["slow", "second"]
        requests.bodies["slow"].set()
        await settle()
        assert not requests.read  # third came before the body
        await requests.go_on("second")
        await requests.go_on("third")
        assert requests.read == ["http.request"]

    asyncio.run(run())


def test_a_body_of_a_valid_key_waits_for_nobody() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("upload", headers=WITH_BODY, key="right", is_right=True)
        await requests.begin("second", "third")
        requests.bodies["upload"].set()
        await settle()
        assert requests.read == ["http.request"]

    asyncio.run(run())


@pytest.mark.parametrize("headers", [[], WITH_BODY])
def test_a_request_whose_client_has_gone_takes_no_turn(headers: list[tuple[bytes, bytes]]) -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("first")
        await requests.begin("gone", headers=headers)
        await requests.begin("last")
        requests.scopes["gone"][WAITING].set_result(False)
        await settle()
        assert requests.tasks["gone"].done()
        await requests.go_on("first")
        assert requests.begun == ["first", "last"]

    asyncio.run(run())


def test_a_client_that_goes_while_its_body_waits_is_told_as_gone() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("slow", headers=WITH_BODY)
        await requests.begin("second")
        requests.bodies["slow"].set()
        await settle()
        requests.scopes["slow"][WAITING].set_result(False)
        await settle()
        assert requests.read == ["http.disconnect"]

    asyncio.run(run())


def test_a_request_that_is_cancelled_passes_its_turn_on() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("first", "second", "third")
        requests.gates["first"].set()
        while not requests.scopes["second"][WAITING].done():
            await asyncio.sleep(0)
        requests.tasks["second"].cancel()  # it has the turn, and has not begun
        await settle()
        assert requests.begun == ["first", "third"]

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
