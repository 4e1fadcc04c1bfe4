"""The turns of requests: how many of one holder are worked on at once, and until when."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from app.api.dependencies import turn_holder
from app.api.http.turns.request_turns import RequestTurns, TurnHolder, give_turn_back
from tests.api.sender_requests import settle


class Application:
    """An ASGI application whose requests go on when the test lets them."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["name"]
        self.begun.append(name)
        await self.gates.setdefault(name, asyncio.Event()).wait()
        if scope.get("fails"):
            raise RuntimeError(name)
        if scope.get("waits"):
            give_turn_back(scope)
            await asyncio.Event().wait()
        await send({"type": "http.response.start", "status": 200})
        if scope.get("streams"):
            await asyncio.Event().wait()


def holder_of(scope: Scope) -> TurnHolder | None:
    return TurnHolder(scope["holder"], 2) if scope["holder"] else None


class Requests:
    """Requests of holders, begun in order."""

    def __init__(self) -> None:
        self.application = Application()
        self.turns = RequestTurns(self.application, holder_of)
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.gone: set[str] = set()

    async def begin(self, *names: str, holder: str = "a", **more: Any) -> None:
        for name in names:
            scope = {
                "type": "http",
                "method": "GET",
                "headers": [],
                "name": name,
                "holder": holder,
                **more,
            }
            receive = partial(receive_message, name in self.gone)
            self.tasks[name] = asyncio.create_task(self.turns(scope, receive, send))
        await settle()

    async def go_on(self, name: str) -> None:
        self.application.gates[name].set()
        await settle()


async def receive_message(is_gone: bool) -> Message:
    return {"type": "http.disconnect" if is_gone else "http.request"}


async def send(message: Message) -> None:
    await asyncio.sleep(0)


def test_a_holder_has_so_many_and_delays_nobody_else() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("a1", "a2", "a3", "a4")
        await requests.begin("b1", "b2", "b3", holder="b")
        await requests.begin("n1", "n2", "n3", holder="")
        assert requests.application.begun == ["a1", "a2", "b1", "b2", "n1", "n2", "n3"]
        await requests.go_on("a2")
        assert requests.application.begun[-1] == "a3"
        await requests.go_on("b1")
        assert requests.application.begun[-1] == "b3"
        await requests.begin("a5", "b4")  # after one has ended there are no more turns than before
        assert requests.application.begun[-1] == "b3"

    asyncio.run(run())


def test_a_turn_ends_with_the_head_of_the_answer_an_error_or_a_wait() -> None:
    for more in ({"streams": True}, {"fails": True}, {"waits": True}, {}):

        async def run(more: dict[str, bool] = more) -> None:
            requests = Requests()
            await requests.begin("first", **more)
            await requests.begin("second", "third", "fourth")
            assert requests.application.begun == ["first", "second"]
            await requests.go_on("first")
            assert requests.application.begun == ["first", "second", "third"]
            if not (more.get("streams") or more.get("waits")):
                await asyncio.wait([requests.tasks["first"]])
                await settle()
            assert requests.application.begun == ["first", "second", "third"]  # given back once

        asyncio.run(run())


def test_who_gives_up_waiting_takes_no_turn_and_nothing_is_kept_of_a_holder() -> None:
    async def run() -> None:
        requests = Requests()
        await requests.begin("first", "second", "gone", "last")
        requests.tasks["gone"].cancel()
        await settle()
        await requests.go_on("first")
        assert requests.application.begun == ["first", "second", "last"]
        for name in ("second", "last"):
            await requests.go_on(name)
        # Nobody asks for what is kept, but it would grow for as long as the server runs.
        assert requests.turns._turns == {}  # noqa: SLF001

    asyncio.run(run())


def test_a_request_whose_client_went_while_it_waited_is_not_worked_on() -> None:
    async def run() -> None:
        requests = Requests()
        requests.gone = {f"gone{number}" for number in range(100)}
        await requests.begin("first", "second", *sorted(requests.gone), "last")
        await requests.go_on("first")
        for _ in requests.gone:
            await settle()
        assert requests.application.begun == ["first", "second", "last"]

    asyncio.run(run())


def test_what_was_received_is_received_by_the_application() -> None:
    messages: list[Message | Exception] = [ValueError("the body"), {"type": "http.disconnect"}]
    seen: list[object] = []

    async def receive() -> Message:
        one = messages.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await receive()
        except ValueError as error:
            seen.append(str(error))
        seen.append((await receive())["type"])

    scope = {"type": "http", "method": "GET", "headers": [], "holder": "a"}
    asyncio.run(RequestTurns(application, holder_of)(scope, receive, send))
    assert seen == ["the body", "http.disconnect"]


def holder_at(path: str, key: str = "pod_admin_x") -> TurnHolder | None:
    headers = [(b"authorization", f"Bearer {key}".encode())]
    return turn_holder({"type": "http", "method": "GET", "path": path, "headers": headers})


def test_results_that_read_each_run_are_made_one_at_a_time_for_a_key() -> None:
    """Eight at once of an experiment of 40,000 runs took 1,700 MB, and as pages 600 MB."""
    paths = (
        "/v1/experiments/a b/outcomes",
        "/v1/experiments/c/uncertainty",
        "/v1/experiments/c/medals-over-time",
        "/v1/experiments/c/selection",
        "/v1/experiments/c/scores",
        "/v1/experiments/c/pass-at-k",
        "/v1/experiments/c/success-rates",
        "/v1/experiments/c/grading-report",
        "/v1/competitions/d/results",
        "/experiments/a b",
        "/experiments/c/medals-over-time",
        "/experiments/c/heat-map.vl.json",
        "/competitions/d",
        "/competitions/d/leaderboard.svg",
    )
    holders = {holder_at(path) for path in paths}

    assert len(holders) == 1
    (one,) = holders
    assert one is not None
    assert one.most == 1
    others = (
        *map(holder_at, ("/v1/experiments/c", "/v1/experiments/c/medal-rates", "/experiments")),
        *map(holder_at, ("/v1/competitions/d", "/experiments/c/receipts", "/competitions")),
        holder_at(paths[0], "pod_admin_y"),
    )
    assert all(other is not None and other.name != one.name for other in others)
    noise = holder_at("/v1/submissions/c/uncertainty")  # estimated, which may take long
    assert noise is not None
    assert noise.most > 1
