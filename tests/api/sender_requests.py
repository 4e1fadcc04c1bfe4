"""Requests to an application behind the turns of senders."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from app.api.http.turns.sender_turns import PEER, SenderTurns

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

    async def begin(self, *names: str, key: str | None = None, peer: str = "", **more: Any) -> None:
        for name in names:
            scope = {"type": "http", "name": name, "key": key, "headers": [], "is_right": False,
                     "was_found": False, "fails": False, "passes": False, PEER: peer,
                     **more}  # fmt: skip
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
