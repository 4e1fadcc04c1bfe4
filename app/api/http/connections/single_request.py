"""uvicorn's connection, parsing a request only after the answer to the last one was written."""

from __future__ import annotations

import abc
import asyncio
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

READ_BYTES = 32 * 1024  # taken from the socket at once
# Bytes of a chunked body that are parsed at once: a chunk of one byte takes as long as a large one.
PIECE_OF_CHUNKS = 2 * 1024
MAX_UNREAD_PARTS = 256  # chunks, or pieces of chunks, that the application has not read
MAX_LEFT_PARTS = 1024  # parts of a body after its answer; then it is the turn of other connections
LEFT_PARTS_SECONDS = 0.01  # between two such turns: about five times the time of parsing
MAX_ESCAPES = 4096  # in a path where every byte of the longest file name is escaped
CUT_PATH = 1000  # bytes of one with more, which names nothing
END_OF_HEAD = b"\r\n\r\n"


class Phase(Enum):
    """The part of a request that a connection waits for or serves."""

    HEAD = "head"
    BODY = "body"
    RESPONSE = "response"


class _UnreadWhile(FlowControl):
    """Stops reading while bytes wait to be parsed; calls `wanted` when uvicorn wants to read.

    uvicorn resumes reading after each answer, and when the application checks whether the client
    has disconnected. Without this class, everything that a client sends faster than it is answered
    would be in memory. In return, Podium notices only when it writes that such a client has
    disconnected.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        bytes_wait: Callable[[], bool],
        wanted: Callable[[], None],
    ) -> None:
        super().__init__(transport)
        self._bytes_wait = bytes_wait
        self._wanted = wanted

    def resume_reading(self) -> None:
        """Resume reading, unless bytes wait."""
        if self._bytes_wait():
            self._wanted()
        else:
            super().resume_reading()


class LeftParts:
    """The turns of connections that still send many parts of bodies that were answered already.

    Such a connection is not closed, because its client would get an error instead of the answer.
    """

    def __init__(self) -> None:
        self._next = 0.0

    def pause(self) -> float:
        """How long this connection has to wait for its turn."""
        now = time.monotonic()
        self._next = max(self._next, now) + LEFT_PARTS_SECONDS
        return self._next - now

    def leave(self) -> None:
        """End the turn of a connection that was lost."""
        self._next -= LEFT_PARTS_SECONDS


class SingleRequestConnection(HttpToolsProtocol):
    """A connection whose further requests wait as bytes, first here, then in the socket.

    uvicorn makes an object for each request that has arrived, and computes answers even for a
    client that sends many requests and reads nothing.
    """

    read_buffer: memoryview
    left_parts = LeftParts()  # of all connections of this process

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phase = Phase.HEAD
        self._unparsed = b""
        self._parsed_last = b""  # up to three bytes, which may begin the end of a head
        self._body_left: int | None = 0  # None: a body in chunks, whose end only the parser knows
        self._parts = 0  # of the body, that the application has not taken, or that are left
        self._turn: asyncio.TimerHandle | None = None  # for these

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Prevent reading while bytes wait."""
        super().connection_made(transport)
        self.flow = _UnreadWhile(transport, lambda: bool(self._unparsed), self._continue_body)

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer for the transport's next bytes; all connections share it."""
        return self.read_buffer

    def buffer_updated(self, count: int) -> None:
        """Take the bytes from the buffer."""
        self.data_received(bytes(self.read_buffer[:count]))

    def data_received(self, data: bytes) -> None:
        """Parse bytes, or keep them until the answer to the last request is written."""
        self._unset_keepalive_if_required()
        if self._unparsed:
            self._unparsed += data
            self.flow.pause_reading()
        else:
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        position = 0
        while position < len(data):
            if self._must_wait():
                self._unparsed = data[position:]
                self.flow.pause_reading()
                self._await_turn()
                return
            end = self._end_of_piece(data, position)
            piece = data[position:end]
            if not self._feed(piece):
                return
            self._parsed_last = (self._parsed_last + piece[-3:])[-3:]
            position = end

    def on_headers_complete(self) -> None:
        """Cut a path that cannot exist, because uvicorn decodes it before the request has a turn.

        It takes 24 ms for one of 60 KB.
        """
        path, mark, query = self.url.partition(b"?")
        if path.count(b"%") > MAX_ESCAPES:
            self.url = path[:CUT_PATH] + mark + query
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count the part, and pass it on."""
        if not (self.cycle.body or self.cycle.response_complete):
            self._parts = 0
        self._parts += 1
        super().on_body(body)
        if not self.cycle.response_complete and self._has_many_parts():
            self.flow.pause_reading()

    def _has_many_parts(self) -> bool:
        if self.cycle.response_complete:
            return self._parts > MAX_LEFT_PARTS
        return bool(self.cycle.body) and self._parts > MAX_UNREAD_PARTS

    def _await_turn(self) -> None:
        """Wait for a turn if the rest of a body has many parts. Nothing else ends this wait."""
        is_left = self.phase is Phase.BODY and self.cycle.response_complete
        if is_left and self._turn is None:
            self._turn = self.loop.call_later(self.left_parts.pause(), self._go_on)

    def _go_on(self) -> None:
        self._turn = None
        self._parts = 0
        self._continue()

    def _must_wait(self) -> bool:
        if self.phase is Phase.BODY:
            return self._has_many_parts()
        return self._is_responding() or self.flow.write_paused

    def _end_of_piece(self, data: bytes, position: int) -> int:
        """The end of the head or the body, so that no request after it is parsed."""
        if self.phase is Phase.HEAD:
            before = self._parsed_last
            found = (before + data[position:]).find(END_OF_HEAD)
            return len(data) if found < 0 else position + found + len(END_OF_HEAD) - len(before)
        if self.phase is Phase.BODY and self._body_left is None:
            return min(len(data), position + PIECE_OF_CHUNKS)
        if self.phase is Phase.BODY and self._body_left:
            return min(len(data), position + self._body_left)
        return len(data)

    @abc.abstractmethod
    def _feed(self, piece: bytes) -> bool:
        """Parse a piece of data. Returns whether the next one may be parsed."""

    def _continue(self) -> None:
        """Parse the bytes that waited."""
        if not self._unparsed or self.transport.is_closing():
            return
        if self._must_wait():
            self._await_turn()
            return
        self._unset_keepalive_if_required()
        data, self._unparsed = self._unparsed, b""
        self.flow.resume_reading()
        self._parse(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the bytes that wait."""
        self._unparsed = b""
        if self._turn is not None:
            self._turn.cancel()
            self.left_parts.leave()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Continue with the next request."""
        super().on_response_complete()
        self._continue_soon()

    def resume_writing(self) -> None:
        """Continue with the next request, now that the client reads what was written."""
        super().resume_writing()
        self._continue_soon()

    def _continue_soon(self) -> None:
        if self._unparsed:
            self._unset_keepalive_if_required()
            self.loop.call_soon(self._continue)

    def _continue_body(self) -> None:
        if self.phase is Phase.BODY:
            self.loop.call_soon(self._continue)

    def _is_responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete
