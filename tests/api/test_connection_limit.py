"""The checks of all connections go on whatever one of them does."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.api.http.connections.limit import ConnectionBounds, ConnectionLimit


class Broken:
    """A connection whose check fails."""

    address = "192.0.2.1"
    since = 0.0
    stalled_since = None

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.checks = 0

    def owes_bytes(self) -> bool:
        return False

    def unsent(self) -> int:
        return 0

    def check(self, now: float) -> None:
        assert now <= time.monotonic()
        self.checks += 1
        raise AttributeError("no request yet")

    def abort(self) -> None:
        raise AssertionError("nothing is late")


def test_an_error_at_one_connection_ends_neither_the_checks_nor_those_of_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.api.http.connections.limit.CHECK_SECONDS", 0.01)

    async def check_for_a_while() -> list[int]:
        limit = ConnectionLimit(ConnectionBounds(9, 9, 1.0, 1.0))
        opened = [Broken() for _ in range(3)]
        for one in opened:
            limit.add(one)
        while any(one.checks < 3 for one in opened):
            await asyncio.sleep(0.01)
        for one in opened:
            limit.remove(one)
        return [one.checks for one in opened]

    first, *others = asyncio.run(asyncio.wait_for(check_for_a_while(), 10))
    assert others == [first, first]
    assert "no request yet" in caplog.text
