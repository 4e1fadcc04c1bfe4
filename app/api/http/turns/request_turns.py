"""Limit how many reading requests of each holder of a key are processed at once.

Further requests wait in the event loop. Otherwise hundreds of requests of one key would wait for
threads in the same queue as the requests of everybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

OF_KEY = 16  # requests of a key or a login that are processed at once
OF_RUN = 4  # the same for a run's key
BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})
TURN = "podium.request_turn"  # key in the scope


class TurnHolder(NamedTuple):
    """Whose requests are counted together, and how many of them are processed at once."""

    name: str
    most: int


HolderOf = Callable[[Scope], TurnHolder | None]  # None: the request does not wait for others


@dataclass
class _Turns:
    """The turns of one holder, and how many of its requests have or await a turn."""

    free: asyncio.Semaphore
    requests: int = 0


class _Turn:
    """The turn of one request, until it is given back."""

    def __init__(self, turns: _Turns) -> None:
        self._turns: _Turns | None = turns

    def give_back(self) -> None:
        """Let the next request of the holder begin; further calls do nothing."""
        if self._turns is not None:
            self._turns.free.release()
            self._turns = None


class RequestTurns:
    """ASGI middleware: a request that reads has a turn from its start to the head of its answer."""

    def __init__(self, app: ASGIApp, holder_of: HolderOf) -> None:
        self._app = app
        self._holder_of = holder_of
        self._turns: dict[str, _Turns] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        holder = self._holder_of(scope) if scope["type"] == "http" else None
        if holder is None:
            await self._app(scope, receive, send)
            return
        with self._counted(holder) as turns:
            await turns.free.acquire()
            turn = scope[TURN] = _Turn(turns)

            async def send_after_turn(message: Message) -> None:
                turn.give_back()
                await send(message)

            try:
                first = receive if has_body(scope) else await _first_message(receive)
                if first is not None:
                    await self._app(scope, first, send_after_turn)
            finally:
                turn.give_back()

    @contextmanager
    def _counted(self, holder: TurnHolder) -> Iterator[_Turns]:
        turns = self._turns.setdefault(holder.name, _Turns(asyncio.Semaphore(holder.most)))
        turns.requests += 1
        try:
            yield turns
        finally:
            turns.requests -= 1
            if not turns.requests:
                del self._turns[holder.name]


def has_body(scope: Scope) -> bool:
    """Whether the request has a body, for which the application waits, or which it discards."""
    return any(name in BODY_HEADERS for name, _ in scope["headers"])


async def _first_message(receive: Receive) -> Receive | None:
    """`receive`, after its first message has arrived; None if the client has disconnected.

    A request that waits does not end when its client disconnects. Without this check, a client that
    closes its connections could let tens of thousands of requests wait, and each would be
    processed.
    """
    try:
        first: Message | BaseException = await receive()
    except Exception as error:  # the application answers it, when it reads
        first = error
    if isinstance(first, dict) and first["type"] == "http.disconnect":
        return None
    kept = [first]

    async def receive_again() -> Message:
        if not kept:
            return await receive()
        message = kept.pop()
        if isinstance(message, BaseException):
            raise message
        return message

    return receive_again


def give_turn_back(scope: Scope) -> None:
    """Let the holder's next request begin: this one waits from now on, and needs no thread."""
    if TURN in scope:
        scope[TURN].give_back()
