"""Which connections are closed, and the checks of all, which go on whatever one of them does."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.api.http.connections.limit import ConnectionBounds, ConnectionLimit


class Sending:
    """A connection with bytes to send, of which its client takes some."""

    address = "192.0.2.1"
    since = 0.0
    stalled_since: float | None = None
    waits_for_turn = False

    def __init__(self, holder: str, size: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.holder = holder
        self.size = size
        self.is_closed = False

    def owes_bytes(self) -> bool:
        return False

    def unsent(self) -> int:
        return 0 if self.is_closed else self.size

    def check(self, now: float) -> None:
        pass

    def abort(self) -> None:
        self.is_closed = True


def closed_of(sizes: list[tuple[str, int]], stalled: dict[int, float] | None = None) -> list[int]:
    """Which connections are closed, when one after another has so much to send."""

    async def send() -> list[int]:
        limit = ConnectionLimit(ConnectionBounds(99, 99, 1.0, 1.0))
        opened = [Sending(*one) for one in sizes]
        for number, one in enumerate(opened):
            one.stalled_since = (stalled or {}).get(number)
            limit.add(one)
            limit.count_unsent(one)
        for one in opened:
            limit.remove(one)
        return [number for number, one in enumerate(opened) if one.is_closed]

    return asyncio.run(send())


MEGABYTES = 1 << 20


def test_beyond_the_bytes_of_all_the_key_with_most_unsent_loses_its_oldest() -> None:
    many = [("many", 10 * MEGABYTES)] * 4
    assert closed_of([("one", 20 * MEGABYTES), *many]) == []
    assert closed_of([("one", 20 * MEGABYTES), *many, ("other", 10 * MEGABYTES)]) == [1]
    assert closed_of([("one", 20 * MEGABYTES), *many, *many]) == [1, 2, 3, 4]


def test_who_has_stalled_is_closed_before_and_who_begins_is_not() -> None:
    first = ("one", 40 * MEGABYTES)
    second = ("other", 20 * MEGABYTES)
    all_three = [first, second, ("third", 20 * MEGABYTES)]
    assert closed_of(all_three, stalled={1: 0.0}) == [1]
    assert closed_of(all_three, stalled={0: 2.0, 1: 1.0}) == [1]  # the one that stalled first
    assert closed_of([("one", 90 * MEGABYTES)]) == []


def test_many_connections_with_few_bytes_each_are_closed_like_few_with_many() -> None:
    """A transport tells of more than 64 KiB only, and an address may have a thousand."""

    async def send() -> tuple[int, list[bool]]:
        limit = ConnectionLimit(ConnectionBounds(9999, 9999, 1.0, 1.0))
        small = [Sending("many", 60 * 1024) for _ in range(1200)]
        usual = [Sending(f"one {number}", MEGABYTES) for number in range(3)]
        for one in (*small, *usual):
            limit.add(one)
        for one in usual:
            limit.count_unsent(one)
        for one in (*small, *usual):
            limit.remove(one)
        return sum(one.unsent() for one in small), [one.is_closed for one in usual]

    unsent, closed = asyncio.run(send())
    assert closed == [False, False, False]
    assert 60 * MEGABYTES < unsent <= 61 * MEGABYTES


class Broken:
    """A connection whose check fails."""

    address = holder = "192.0.2.1"
    since = 0.0
    stalled_since = None
    waits_for_turn = False

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


class Kind(Sending):
    """An open connection of one kind, all of one address."""

    def __init__(self, kind: str, since: float) -> None:
        super().__init__("key_1" if "known" in kind else self.address, 0)
        self.since = time.monotonic() if kind == "just connected" else since
        self.waits_for_turn = kind == "waiting"
        self.stalled_since = since if "reads nothing" in kind else None
        self._owes_bytes = kind in ("silent", "silent, known", "just connected")

    def owes_bytes(self) -> bool:
        return self._owes_bytes


@pytest.mark.parametrize(
    ("kinds", "closed"),
    [
        (["silent", "reads nothing first", "reads nothing", "silent"], "reads nothing first"),
        (["silent, known", "waiting", "silent", "silent"], "silent"),
        (["silent, known", "waiting", "waiting", "waiting"], "waiting"),
        (["just connected", "waiting", "served", "waiting"], "waiting"),
        (["served", "silent, known", "served", "served"], "silent, known"),
        (["served", "just connected", "served", "served"], "just connected"),
        (["served", "served", "served", "served, known"], "new"),
    ],
)
def test_a_new_connection_replaces_the_one_that_is_missed_least(
    kinds: list[str], closed: str
) -> None:
    async def connect() -> list[str]:
        limit = ConnectionLimit(ConnectionBounds(9, 4, 1.0, 1.0))
        opened = [Kind(kind, float(number)) for number, kind in enumerate((*kinds, "new"))]
        for one in opened:
            limit.add(one)
        for one in opened:
            limit.remove(one)
        names = zip((*kinds, "new"), opened, strict=True)
        return [kind for kind, one in names if one.is_closed]

    assert asyncio.run(connect()) == [closed]


@pytest.mark.parametrize(
    ("most", "of_address", "closed"), [(9, 2, ["newest"]), (3, 9, ["other"]), (4, 3, [])]
)
def test_beyond_the_bound_of_an_address_no_other_address_loses_a_connection(
    most: int, of_address: int, closed: list[str]
) -> None:
    async def connect() -> list[str]:
        limit = ConnectionLimit(ConnectionBounds(most, of_address, 1.0, 1.0))
        opened = {"other": Kind("silent", 0.0)}
        opened["other"].address = opened["other"].holder = "192.0.2.2"
        opened |= {name: Kind("served", 0.0) for name in ("gone", "first", "second", "newest")}
        limit.add(opened["other"])
        limit.add(opened["gone"])
        limit.remove(opened["gone"])  # its place is free again
        for name in ("first", "second", "newest"):
            limit.add(opened[name])
        for one in opened.values():
            limit.remove(one)
        return [name for name, one in opened.items() if one.is_closed]

    assert asyncio.run(connect()) == closed


@pytest.mark.parametrize("kind", ["silent", "waiting", "served"])
def test_a_thousand_are_not_looked_at_for_each_new_connection(kind: str) -> None:
    """Who connects again whenever one is closed had the server look at them all the time."""
    looks = 0

    class Counted(Kind):
        def owes_bytes(self) -> bool:
            nonlocal looks
            looks += 1
            return super().owes_bytes()

    async def connect() -> list[int]:
        limit = ConnectionLimit(ConnectionBounds(9999, 1000, 1.0, 1.0))
        opened = [Counted(kind, float(number)) for number in range(1100)]
        for one in opened:
            limit.add(one)
        for one in opened:
            limit.remove(one)
        return [number for number, one in enumerate(opened) if one.is_closed]

    closed = asyncio.run(connect())
    assert len(closed) == 100
    expected = {"silent": list(range(100)), "served": list(range(1000, 1100))}
    assert closed == expected.get(kind, closed)
    assert looks < 20_000


def test_who_was_served_since_all_were_looked_at_is_not_closed_as_silent() -> None:
    async def connect() -> list[bool]:
        limit = ConnectionLimit(ConnectionBounds(9, 4, 1.0, 1.0))
        opened = [Kind("silent", float(number)) for number in range(6)]
        for one in opened[:5]:
            limit.add(one)  # the fifth closes the first, when all were looked at
        opened[1].since = time.monotonic()  # it was answered, and waits for its next request
        limit.add(opened[5])
        for one in opened:
            limit.remove(one)
        return [one.is_closed for one in opened]

    assert asyncio.run(connect()) == [True, False, True, False, False, False]


def test_of_strangers_who_wait_any_may_be_closed() -> None:
    """Were it always the newest, whoever comes while others fill all places would stay out."""

    async def connect() -> set[int]:
        closed = set()
        for _ in range(200):
            limit = ConnectionLimit(ConnectionBounds(9, 4, 1.0, 1.0))
            opened = [Kind("waiting", 0.0) for _ in range(5)]
            for one in opened:
                limit.add(one)
            closed |= {number for number, one in enumerate(opened) if one.is_closed}
            for one in opened:
                limit.remove(one)
        return closed

    assert asyncio.run(connect()) == {0, 1, 2, 3, 4}
