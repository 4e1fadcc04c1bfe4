"""Bounds of connections: the size of a request's head, the time for it, and their number.

uvicorn's httptools protocol has none of these bounds, and a request's head comes before any key.
So one connection with an endless header, or a thousand silent connections, would stop
the server for everybody.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from enum import Enum
from http import HTTPStatus
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.http.foreign_host import foreign_host

MAX_HEAD_BYTES = 64 * 1024  # of request line and headers together
HEADER_OVERHEAD = 32  # counted for each header, because each costs memory beyond its bytes
HEAD_SECONDS = 30.0  # for the complete head
BODY_IDLE_SECONDS = 30.0  # between two pieces of a body
CHECK_SECONDS = 1.0


class Phase(Enum):
    """The part of a request that a connection waits for or serves."""

    HEAD = "head"
    BODY = "body"
    RESPONSE = "response"


class ConnectionLimit:
    """All open connections of a server.

    Beyond `most` connections, a new one replaces the one that has owed bytes of a request longest.
    So silent connections never keep others out.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[BoundedConnection] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: BoundedConnection) -> None:
        """Count a new connection, and close the longest silent one if there are too many."""
        self._open.add(connection)
        if len(self._open) > self._most:
            owing = (one for one in self._open if one.owes_bytes())
            min(owing, key=lambda one: one.since, default=connection).abort()
        if self._timer is None:
            self._timer = connection.loop.call_later(CHECK_SECONDS, self._check, connection.loop)

    def remove(self, connection: BoundedConnection) -> None:
        """Forget a connection that was closed."""
        self._open.discard(connection)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        for connection in list(self._open):
            connection.end_if_late(now)
        self._timer = loop.call_later(CHECK_SECONDS, self._check, loop) if self._open else None


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's connection with bounds; `limit` is set by `connection_class`."""

    limit: ConnectionLimit

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phase = Phase.HEAD
        self.since = time.monotonic()  # when the phase began; of a body: when bytes last came
        self._head_bytes = 0
        self._refusal: tuple[HTTPStatus, str] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection."""
        super().connection_made(transport)
        self.limit.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self.limit.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse bytes; refuse a head that is too large or no HTTP."""
        self._unset_keepalive_if_required()
        if self.phase is Phase.HEAD:
            self._head_bytes += len(data)
        elif self.phase is Phase.BODY:
            self.since = time.monotonic()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            status, detail = self._refusal or (
                HTTPStatus.BAD_REQUEST, "Podium speaks plain HTTP/1.1, no other protocol.",
            )  # fmt: skip
            self._refuse(status, detail)
        except httptools.HttpParserError:
            status, detail = self._refusal or (
                HTTPStatus.BAD_REQUEST, "The request is not valid HTTP/1.1.",
            )  # fmt: skip
            self._refuse(status, detail)
        else:
            if self.phase is Phase.HEAD and self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(*_HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a head."""
        super().on_message_begin()
        self._counted = 0
        if self.phase is not Phase.HEAD:  # a pipelined request
            self._enter(Phase.HEAD)

    def on_url(self, url: bytes) -> None:
        """Count the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._count(len(name) + len(value) + HEADER_OVERHEAD)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Go on to the body; refuse a request for another host, by a client whose proxy this is."""
        port = self.server[1] if self.server else None
        host = foreign_host(self.parser.get_method(), self.url, port or 0)
        if host:
            self._refusal = (
                HTTPStatus.MISDIRECTED_REQUEST,
                (
                    f"Podium is no proxy for {host} and has not forwarded the request. Set "
                    "HTTP_PROXY for the kaggle command alone, or "
                    f"NO_PROXY={host.rpartition(':')[0]}."
                ),
            )
            raise ValueError(host)  # the parser stops; see `data_received`
        self._enter(Phase.BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Go on to the response, or to the next request if the response came early."""
        self._enter(Phase.RESPONSE if self._is_responding() else Phase.HEAD)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        if self.phase is Phase.RESPONSE:
            self._enter(Phase.HEAD)
        super().on_response_complete()

    def owes_bytes(self) -> bool:
        """Whether the connection waits for bytes of the client."""
        if self.phase is Phase.BODY:
            return not self.flow.read_paused
        return self.phase is Phase.HEAD and not self._is_responding()

    def end_if_late(self, now: float) -> None:
        """Close the connection if its head or the next piece of its body is overdue."""
        waited = now - self.since
        if self.phase is Phase.BODY and self.flow.read_paused:
            self.since = now  # the server does not read
        elif not self.owes_bytes():
            return
        elif self.phase is Phase.HEAD and waited > HEAD_SECONDS:
            self._refuse(
                HTTPStatus.REQUEST_TIMEOUT,
                f"The head of the request did not arrive within {HEAD_SECONDS:g} seconds.",
            )
        elif self.phase is Phase.BODY and waited > BODY_IDLE_SECONDS:
            self.abort()  # the request's task sees that the client has gone

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def _is_responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.since = time.monotonic()
        self._head_bytes = 0

    def _count(self, size: int) -> None:
        self._counted += size
        if self._counted > MAX_HEAD_BYTES:
            self._refusal = _HEAD_TOO_LARGE
            raise ValueError(_HEAD_TOO_LARGE[1])  # the parser stops; see `data_received`

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answer with a problem document and close, unless a response is under way."""
        if self._is_responding():
            self.abort()
            return
        if self.transport.is_closing():
            return
        self.transport.write(b"".join(_problem(status, detail)))
        self.transport.close()


_HEAD_TOO_LARGE = (
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    f"The request line and headers are larger than {MAX_HEAD_BYTES // 1024} KiB.",
)


def connection_class(limit: ConnectionLimit) -> type[BoundedConnection]:
    """The protocol class for `uvicorn.Config(http=...)`, which makes one for each connection."""
    return type("Connection", (BoundedConnection,), {"limit": limit})


def _problem(status: HTTPStatus, detail: str) -> Iterable[bytes]:
    name = status.phrase.lower().replace(" ", "-")
    body = json.dumps(
        {"type": f"/problems/{name}", "title": status.phrase, "status": status, "detail": detail}
    ).encode()
    yield f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
    yield b"content-type: application/problem+json\r\nconnection: close\r\n"
    yield b"content-length: %d\r\n\r\n" % len(body)
    yield body
