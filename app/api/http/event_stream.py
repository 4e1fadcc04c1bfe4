"""Server-sent events over HTTP: limits of their number and duration, and their end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from app.api.http.body_limit import MAX_BODY_BYTES, allow_body
from app.errors import PodiumError, Unavailable

MEDIA_TYPE = "text/event-stream"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # proxies that know this header forward every event at once
}
HEARTBEAT = ": still here\n\n"
PER_RUN_KEY = 8
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


class TooManyStreams(PodiumError):
    """This key has the maximum number of event streams open."""

    status = 429

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": "5"}


@dataclass(eq=False)
class StreamPlace:
    """The slot of an open stream. When it is lost, the stream has to end (`on_loss` is called)."""

    on_loss: Callable[[], None]
    is_lost: bool = False


@dataclass
class StreamLimit:
    """The open streams of this server. Only the event loop's thread may use it.

    A few keys together could use all slots. So the first stream of a key replaces the oldest stream
    of the key that has most. The client of that stream reconnects, and misses no event.
    """

    limit: int
    _open: dict[str, list[StreamPlace]] = field(default_factory=dict)
    _ending: int = 0  # have lost their slots, and may wait for a client that reads nothing

    @property
    def per_reader(self) -> int:
        """The limit of one key other than a run's, so that streams are left for agents."""
        return max(1, self.limit // 2)

    @contextlib.contextmanager
    def slot(
        self, holder: str, most: int, on_loss: Callable[[], None] = lambda: None
    ) -> Iterator[StreamPlace]:
        """Count one more stream of `holder` while it is open; `most` is the holder's limit.

        `on_loss` is called if it loses its slot.

        Raises:
            TooManyStreams: the holder has `most` streams open.
            Unavailable: the server has its maximum number of streams open.
        """
        open_now = self._open.get(holder, [])
        if len(open_now) >= most:
            raise TooManyStreams(f"{most} event streams are open with this key; close one first.")
        if sum(map(len, self._open.values())) >= self.limit:
            longest = max(self._open.values(), key=len)
            if open_now or len(longest) < 2 or self._ending >= self.limit:
                raise self.full()
            lost = longest.pop(0)
            lost.is_lost = True
            self._ending += 1
            lost.on_loss()
        place = StreamPlace(on_loss)
        self._open.setdefault(holder, []).append(place)
        try:
            yield place
        finally:
            if place.is_lost:
                self._ending -= 1
            else:
                self._open[holder].remove(place)
                if not self._open[holder]:
                    del self._open[holder]

    def full(self) -> Unavailable:
        """The error for a stream for which there is no slot."""
        return Unavailable(
            f"This server has {self.limit} event streams open, its maximum "
            "(PODIUM_EVENT_STREAMS). Try again later.",
            retry_after=5,
        )


class EventStreamResponse(Response):
    """A response that sends texts as they come, until there are no more or the client disconnects.

    `events()` is started and closed with the response. An error that it raises before its first
    text is answered like any error. If there is no text at all, the status is 204, after which
    clients of server-sent events do not reconnect. After the first text, a comment is sent whenever
    `heartbeat` seconds have passed without one. A client that reads nothing is disconnected by the
    limits of its connection. A body of the request is discarded as it arrives.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self, events: Callable[[], AsyncGenerator[str]], *, seconds: float, heartbeat: float
    ) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._events = events
        self._seconds = seconds
        self._heartbeat = heartbeat
        self._is_open = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, for `seconds` at most."""
        # No body is parsed here. If it counted among the bodies that are processed, it could
        # prevent others from being read while this stream is open.
        allow_body(scope, MAX_BODY_BYTES)
        sending = asyncio.create_task(self._pass_on(send))
        leaving = asyncio.create_task(_leave(receive))
        both = {sending, leaving}
        try:
            await asyncio.wait(both, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            has_left = leaving.done()
        finally:
            for task in both:
                task.cancel()
            await asyncio.wait(both)
        if not sending.cancelled():
            sending.result()  # raises what the events raised
        if not leaving.cancelled() and leaving.exception() and not self._is_open:
            leaving.result()  # raises why the body was refused
        if self._is_open and not has_left:
            await send(END)

    async def _pass_on(self, send: Send) -> None:
        async with contextlib.aclosing(self._events()) as texts:
            while (text := await self._next(texts, send)) is not None:
                if not self._is_open:
                    await send(_start(200, self.raw_headers))
                    self._is_open = True
                await send(_part(text))
        if not self._is_open:
            await send(_start(204, []))
            self._is_open = True

    async def _next(self, texts: AsyncGenerator[str], send: Send) -> str | None:
        """The next text, or None after the last; sends the heartbeats that are due before it.

        Heartbeats follow only the clock. Events that are read in between and not shown to the
        client delay none, because the delay would reveal them.
        """
        loop = asyncio.get_running_loop()
        due = loop.time() + self._heartbeat
        reading = asyncio.create_task(_read(texts))
        try:
            while not reading.done():
                timeout = due - loop.time() if self._is_open else None
                await asyncio.wait([reading], timeout=timeout)
                if not reading.done():
                    due += self._heartbeat
                    await send(_part(HEARTBEAT))
            return reading.result()
        finally:
            if not reading.done():  # the client has gone; only one task may run the generator
                reading.cancel()
                await asyncio.wait([reading])


async def _read(texts: AsyncGenerator[str]) -> str | None:
    return await anext(texts, None)


def _part(text: str) -> Message:
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}


def _start(status: int, headers: list[tuple[bytes, bytes]]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}


async def _leave(receive: Receive) -> None:
    """Wait until the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
