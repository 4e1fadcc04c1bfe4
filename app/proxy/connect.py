"""The connection to Podium: its answer is read even if a write fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from asyncio import StreamReader, StreamWriter

from app.proxy.request_head import NotForwarded, Upstream

CHUNK = 64 * 1024
CONNECT_SECONDS = 10.0


async def connect(
    upstream: Upstream, secure: ssl.SSLContext | None
) -> tuple[StreamReader, StreamWriter]:
    """Connect to Podium.

    Raises:
        NotForwarded: it cannot be reached.
    """
    loop, reader = asyncio.get_running_loop(), StreamReader(limit=CHUNK)
    protocol = _Answer(reader)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            transport, _ = await loop.create_connection(
                lambda: protocol, upstream.host, upstream.port, ssl=secure
            )
    except (OSError, TimeoutError) as error:
        reason = str(error) or f"no connection in {CONNECT_SECONDS:g} seconds"
        raise NotForwarded(502, f"Podium at {upstream.name} cannot be reached: {reason}.") from None
    return reader, StreamWriter(transport, protocol, reader, loop)


class _Answer(asyncio.StreamReaderProtocol):
    """Keeps an answer that has arrived when a write fails.

    A server that answers before it has all of a body may then close: its answer is in the socket,
    and asyncio would raise the failed write's exception instead of reading it. With TLS only what
    asyncio has read is kept.
    """

    def __init__(self, reader: StreamReader) -> None:
        super().__init__(reader)
        self._answer = reader
        self._descriptor = -1  # of a connection without TLS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        super().connection_made(transport)
        if transport.get_extra_info("ssl_object") is None:
            self._descriptor = transport.get_extra_info("socket").fileno()

    def connection_lost(self, exc: Exception | None) -> None:
        """Read what has arrived."""
        if exc is not None and self._descriptor >= 0:  # it is closed after this
            with contextlib.suppress(OSError):
                while data := os.read(self._descriptor, CHUNK):
                    self._answer.feed_data(data)
        super().connection_lost(None)
