"""Forward requests, each over its own connection to Podium, whose bytes are passed on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from asyncio import StreamReader, StreamWriter

from app.proxy.connect import CHUNK, connect
from app.proxy.request_head import (
    Head,
    NotForwarded,
    Upstream,
    body_length,
    chunk_size,
    parsed,
    rewritten,
)

MAX_HEAD_BYTES = 64 * 1024
# Requests at once for each address. Each takes two open files, of which many systems allow a
# process 1,024, and some 500 KB if its client does not read.
MAX_CONNECTIONS = 200
MALFORMED = (ValueError, asyncio.LimitOverrunError)  # errors of reading a malformed request
HEAD_SECONDS, LEAVE_SECONDS = 60.0, 5.0


async def serve(upstream: Upstream, host: str, port: int) -> asyncio.Server:
    """Listen on an address."""
    secure = ssl.create_default_context() if upstream.tls else None
    open_now: set[StreamWriter] = set()

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        if len(open_now) >= MAX_CONNECTIONS:
            await _say(writer, 503, f"This forwards {MAX_CONNECTIONS} requests at once. Try again.")
            writer.close()
            return
        open_now.add(writer)
        try:
            try:
                await _answer(upstream, secure, reader, writer)
            except NotForwarded as refusal:
                await _say(writer, refusal.code, str(refusal))
            except MALFORMED:
                await _say(writer, 400, "The request is not well formed.")
            except (OSError, TimeoutError):
                pass  # one of the two sides disconnected, so nobody can be told
            await _end(reader, writer)
        finally:
            # When the proxy ends, it does not wait for a client that reads nothing.
            writer.transport.abort()
            open_now.remove(writer)

    return await asyncio.start_server(answer, host, port, limit=MAX_HEAD_BYTES)


async def _answer(
    upstream: Upstream, secure: ssl.SSLContext | None, reader: StreamReader, writer: StreamWriter
) -> None:
    head = await _read_head(reader)
    if head is None:
        return
    request = rewritten(head, upstream, writer.get_extra_info("sockname")[1])
    length = body_length(head)
    there, back = await connect(upstream, secure)
    sending = asyncio.create_task(_send(reader, back, request, length))
    try:
        # Podium may answer before it has all of a body; then the rest is not needed.
        answered = False
        while data := await there.read(CHUNK):
            answered = True
            writer.write(data)
            await writer.drain()
        if not answered and sending.done():
            await sending  # it raises the error of the body
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError, NotForwarded, *MALFORMED):
            await sending
        back.close()


async def _read_head(reader: StreamReader) -> Head | None:
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise NotForwarded(400, "The request ended in its headers.") from None
        return None
    except asyncio.LimitOverrunError:
        raise NotForwarded(431, "The request's headers are too long.") from None
    return parsed(raw)


async def _send(
    reader: StreamReader, back: StreamWriter, request: bytes, length: int | None
) -> None:
    """Send the request, and end the connection to Podium if the client disconnects."""
    try:
        back.write(request)
        if length is None:
            await _send_chunks(reader, back)
        else:
            await _send_bytes(reader, back, length)
        await back.drain()
        while await reader.read(CHUNK):
            pass  # one request for each connection: no other is passed on
    except EOFError:
        raise NotForwarded(400, "The request ended in its body.") from None
    finally:
        back.transport.abort()  # Podium must not wait for the rest, or compute an answer for nobody


async def _send_bytes(reader: StreamReader, back: StreamWriter, length: int) -> None:
    while length:
        data = await reader.read(min(CHUNK, length))
        if not data:
            raise EOFError
        length -= len(data)
        back.write(data)
        await back.drain()


async def _send_chunks(reader: StreamReader, back: StreamWriter) -> None:
    size = -1
    while size:
        line = await reader.readuntil(b"\r\n")
        size = chunk_size(line)
        back.write(line)
        await _send_bytes(reader, back, size)
        if size:
            if await reader.readexactly(2) != b"\r\n":
                raise NotForwarded(400, "A chunk of the request is longer than it says.")
            back.write(b"\r\n")
    # Trailers are left out, as in Podium. For a lenient server a line feed within one ends the
    # body, and the rest would be a request of the agent that is not checked here.
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    back.write(b"\r\n")


async def _say(writer: StreamWriter, code: int, message: str) -> None:
    body = json.dumps({"code": code, "message": message}).encode()
    head = (
        f"HTTP/1.1 {code} NotForwarded\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)
    with contextlib.suppress(OSError):
        await writer.drain()


async def _end(reader: StreamReader, writer: StreamWriter) -> None:
    """Close the connection. Bytes that the client still sends are read for some seconds.

    If there are unread bytes, the kernel would reset it, and the client might lose its answer.
    """
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(LEAVE_SECONDS):
            writer.write_eof()
            while await reader.read(CHUNK):
                pass
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
