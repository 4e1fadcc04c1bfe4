"""The turns of requests with bodies, and of those whose client has gone or that were cancelled."""

from __future__ import annotations

import asyncio

import pytest

from app.api.http.turns.sender_turns import WAITING
from tests.api.sender_requests import WITH_BODY, Requests, settle


@pytest.fixture(autouse=True)
def _no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.api.http.turns.sender_turns.TURN_SECONDS", 60.0)


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
