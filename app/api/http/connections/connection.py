"""uvicorn's connection with limits of what a client sends and of what it leaves unread."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httptools

from app.api.http.connections import refusals
from app.api.http.connections.limit import ConnectionLimit, counted_address
from app.api.http.connections.progress import Receiving, Writing
from app.api.http.connections.refusals import Refusal
from app.api.http.connections.single_request import READ_BYTES, Phase, SingleRequestConnection
from app.api.http.request_log import CALLER
from app.api.http.turns.sender_turns import PEER, WAITING

MAX_HEAD_BYTES = 64 * 1024  # of request line and headers together, and of trailers
HEADER_OVERHEAD = 32  # counted for each header, because each costs memory beyond its bytes
MAX_HEADERS = 400  # with trailers; each takes some 160 bytes of memory beyond its text
MAX_UNREAD_BODY = 16 * 1024  # bytes of a body that the application has not taken
# The parser accepts others too. In HTTP/0.9 a line feed in the address ends the first line, so what
# a proxy in front considers the rest of the address would be a header.
VERSIONS = frozenset({"1.0", "1.1"})
UNREAD = b"x-forwarded-for"  # uvicorn takes 2 ms to parse 60 KB of commas, before turns
MAX_PIPELINED = 8  # requests that are parsed before the answer to the first; more wait as bytes


class BoundedConnection(SingleRequestConnection):
    """A connection with bounds; `limit` and `read_buffer` are set by `connection_class`."""

    limit: ConnectionLimit

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.since = time.monotonic()  # when the phase began; for a body: when bytes last arrived
        self.address = ""
        self._head_bytes = 0
        self._counted = self._headers = 0
        self._beside_body = 0  # bytes of chunks and trailers since the last byte of the body
        self._refusal: Refusal | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection."""
        super().connection_made(transport)
        self.address = counted_address(self.client[0]) if self.client else ""
        self._writing = Writing(transport)
        self._receiving = Receiving(self.since)
        self.limit.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection, and end the wait of its request."""
        self.limit.remove(self)
        waiting = self._waiting_turn()
        if waiting is not None and not waiting.done():
            waiting.set_result(False)
        super().connection_lost(exc)

    def _feed(self, piece: bytes) -> bool:
        """Parse a piece of data. Returns whether the next one may be parsed."""
        if self.phase is Phase.HEAD:
            self._head_bytes += len(piece)
        elif self.phase is Phase.BODY:
            self.since = time.monotonic()
            self._receiving.add(len(piece))
            self._beside_body += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserError:
            self._refuse(self._refusal or refusals.NO_HTTP)
        else:
            in_head = self.phase is Phase.HEAD and self._head_bytes > MAX_HEAD_BYTES
            in_body = self.phase is Phase.BODY and self._beside_body > MAX_HEAD_BYTES
            if in_head or in_body:
                self._refuse(refusals.head_too_large(MAX_HEAD_BYTES, MAX_HEADERS))
        return not self.transport.is_closing()

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a head."""
        super().on_message_begin()
        self._counted = self._headers = 0
        if self.phase is not Phase.HEAD:  # a pipelined request
            self._enter(Phase.HEAD)
        if len(self.pipeline) >= MAX_PIPELINED:
            self._stop(refusals.TOO_MANY_REQUESTS)

    def on_url(self, url: bytes) -> None:
        """Count the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header. Trailers are counted too, and discarded, since nothing reads them."""
        self._headers += 1
        self._count(len(name) + len(value) + HEADER_OVERHEAD)
        if self.phase is Phase.HEAD and name.lower() != UNREAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Continue with the body. Refuse a request for another host, since Podium is no proxy."""
        port = self.server[1] if self.server else None
        refused = refusals.refusal_of_target(self.parser.get_method(), self.url, port or 0)
        if refused is not None:
            self._stop(refused)
        version = self.parser.get_http_version()
        if version not in VERSIONS:
            self._stop(refusals.NO_HTTP)
        hosts = self._values(b"host")
        if len(hosts) > 1 or (not hosts and version != "1.0"):
            self._stop(refusals.NOT_ONE_HOST)
        codings = self._values(b"transfer-encoding")
        if codings and b",".join(codings).strip().lower() != b"chunked":
            self._stop(refusals.OTHER_CODING)
        if self.parser.should_upgrade():  # the parser would leave the body to that protocol
            self._stop(refusals.OTHER_PROTOCOL)
        self._enter(Phase.BODY)
        self._receiving = Receiving(self.since)
        self._beside_body = 0
        lengths = self._values(b"content-length")
        self._body_left = None if codings or not lengths else int(lengths[0])
        # A client of HTTP/1.0 would treat "100 Continue" as the answer.
        self.expect_100_continue = self.expect_100_continue and version != "1.0"
        scope: Any = self.scope
        scope[PEER] = self.address  # a header could name any other client
        super().on_headers_complete()

    def _values(self, header: bytes) -> list[bytes]:
        return [value for name, value in self.headers if name == header]

    def on_body(self, body: bytes) -> None:
        """Keep a part of the body, and read no more until the application has taken it."""
        self._beside_body = 0
        if self._body_left is not None:
            self._body_left -= len(body)
        super().on_body(body)
        if not self.cycle.response_complete and len(self.cycle.body) > MAX_UNREAD_BODY:
            self.flow.pause_reading()

    def on_message_complete(self) -> None:
        """Continue with the response, or with the next request if the response came early."""
        self._enter(Phase.RESPONSE if self._is_responding() else Phase.HEAD)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Continue with the next request."""
        if self.phase is Phase.RESPONSE:
            self._enter(Phase.HEAD)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Count what waits to be sent: the transport calls this when it is more than 64 KiB."""
        super().pause_writing()
        self.limit.count_unsent(self)

    def resume_writing(self) -> None:
        """Continue, now that the client has read nearly all."""
        self.limit.forget_unsent(self)
        super().resume_writing()

    @property
    def holder(self) -> str:
        """Who gets the answer: the id of the request's key, or the address if it has none."""
        known: Any = None if self.cycle is None else self.cycle.scope.get(CALLER)
        return self.address if known is None else str(known["key"])

    @property
    def waits_for_turn(self) -> bool:
        """Whether its request waits for others of its sender."""
        return self._waiting_turn() is not None

    def _waiting_turn(self) -> asyncio.Future[bool] | None:
        scope: Any = {} if self.cycle is None else self.cycle.scope
        waiting: asyncio.Future[bool] | None = scope.get(WAITING)
        return waiting

    @property
    def stalled_since(self) -> float | None:
        """Since when the client has read nothing of what waits to be sent."""
        return self._writing.stalled_since

    def unsent(self) -> int:
        """Bytes that wait to be sent."""
        return self.transport.get_write_buffer_size()

    def owes_bytes(self) -> bool:
        """Whether the connection waits for bytes from the client."""
        if self.transport.is_closing():  # it may have no request yet
            return False
        if self.phase is Phase.BODY:
            return not (self.flow.read_paused or self.cycle.waiting_for_100_continue)
        return self.phase is Phase.HEAD and not (self._is_responding() or self._unparsed)

    def check(self, now: float) -> None:
        """Close the connection if its client reads nothing, or if its head or body is overdue."""
        bounds = self.limit.bounds
        self._writing.look(now, self._is_responding())
        if self.stalled_since is not None and now - self.stalled_since > bounds.idle_seconds:
            self.abort()
        elif not self.owes_bytes():
            self.since = now if self.phase is Phase.BODY else self.since
            self._receiving.pause(now)
        elif self.phase is Phase.HEAD and now - self.since > bounds.head_seconds:
            self._refuse(refusals.head_too_late(bounds.head_seconds))
        elif self.phase is Phase.BODY and (
            now - self.since > bounds.idle_seconds
            or self._receiving.is_too_slow(now, bounds.idle_seconds)
        ):
            self.abort()  # the request's task sees that the client has gone

    def abort(self) -> None:
        """Close the connection at once."""
        self._writing.abort()

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.since = time.monotonic()
        self._head_bytes = 0

    def _count(self, size: int) -> None:
        self._counted += size
        if self._counted > MAX_HEAD_BYTES or self._headers > MAX_HEADERS:
            self._stop(refusals.head_too_large(MAX_HEAD_BYTES, MAX_HEADERS))

    def _stop(self, refusal: Refusal) -> None:
        """Stop the parser, which has called this; `_feed` refuses."""
        self._refusal = refusal
        raise ValueError(refusal.detail)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer with a problem document and close, unless a response is under way.

        A request whose body breaks off is answered here if the application has not begun to.
        """
        if self._is_responding():
            if self.phase is not Phase.BODY or self.cycle.response_started:
                self.abort()
                return
            self.cycle.disconnected = True  # the application sees that the client has gone
            self.cycle.message_event.set()
        if not self.transport.is_closing():
            self.transport.write(refusal.answer())
            self.transport.close()


def connection_class(limit: ConnectionLimit) -> type[BoundedConnection]:
    """The protocol class for `uvicorn.Config(http=...)`, which makes one for each connection."""
    buffer = memoryview(bytearray(READ_BYTES))
    return type("Connection", (BoundedConnection,), {"limit": limit, "read_buffer": buffer})
