"""A small forwarder for an agent's container: it adds the run's key, and leads to one place only.

Nothing beyond the standard library, and no state: each request gets a connection of its own to
Podium, whose bytes are passed on as they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass
from urllib.parse import urlsplit

MAX_HEAD_BYTES, CHUNK = 64 * 1024, 256 * 1024
MALFORMED = (ValueError, asyncio.LimitOverrunError)  # what reading an odd request raises
CONNECT_SECONDS, HEAD_SECONDS = 10.0, 60.0
# Headers of one connection, headers that the proxy sets, and headers that no client may set.
DROPPED = frozenset({"connection", "proxy-connection", "proxy-authorization", "keep-alive",
                     "upgrade", "authorization", "x-podium-origin"})  # fmt: skip


class NotForwarded(Exception):
    """A request that is not passed on."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Upstream:
    """Where requests go, and the key they go with."""

    host: str
    port: int
    tls: bool
    base: str  # a path that stands before every path, or nothing
    key: str

    @property
    def name(self) -> str:
        """Host and port as a Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


@dataclass(frozen=True)
class Head:
    """A request's first line and headers."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self.headers if key.lower() == name]


def upstream_of(url: str, key: str) -> Upstream:
    """Read the address of a Podium.

    Raises:
        ValueError: it is no http or https address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as http://podium:7777")
    tls = parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    return Upstream(parts.hostname, port, tls, parts.path.rstrip("/"), key)


async def serve(upstream: Upstream, listen: list[tuple[str, int]]) -> list[asyncio.Server]:
    """Listen on all these addresses."""
    secure = ssl.create_default_context() if upstream.tls else None

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            await _answer(upstream, secure, reader, writer)
        except NotForwarded as refusal:
            await _say(writer, refusal.code, str(refusal))
        except MALFORMED:
            await _say(writer, 400, "The request is not well formed.")
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # one of the two ends went away: there is nobody to tell
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    return [
        await asyncio.start_server(answer, host, port, limit=MAX_HEAD_BYTES)
        for host, port in listen
    ]


async def _answer(
    upstream: Upstream, secure: ssl.SSLContext | None, reader: StreamReader, writer: StreamWriter
) -> None:
    head = await _read_head(reader)
    if head is None:
        return
    request = _rewritten(head, upstream, writer.get_extra_info("sockname")[1])
    length = _body_length(head)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            there, back = await asyncio.open_connection(
                upstream.host, upstream.port, ssl=secure, limit=CHUNK
            )
    except (OSError, TimeoutError) as error:
        raise NotForwarded(502, f"Podium at {upstream.name} cannot be reached: {error}.") from None
    sending = asyncio.create_task(_send_body(reader, back, request, length))
    try:
        # Podium may answer before it has all of a body; then the rest is of no interest.
        answered = False
        while data := await there.read(CHUNK):
            answered = True
            writer.write(data)
            await writer.drain()
        if not answered and sending.done():
            await sending  # it raises what was wrong with the body
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError, EOFError, *MALFORMED):
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
    first, *lines = raw[:-4].decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise NotForwarded(400, "This is not an HTTP/1.1 request.")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or "\n" in line or "\r" in line:
            raise NotForwarded(400, "A header of the request is not well formed.")
        headers.append((name, value.strip()))
    return Head(words[0], words[1], tuple(headers))


def _rewritten(head: Head, upstream: Upstream, port: int) -> bytes:
    """The request for Podium: its key, its host, and where the client thinks it is."""
    path, host = head.target, (head.values("host") or [""])[0]
    if path.lower().startswith(("http://", "https://")):
        parts = urlsplit(path)
        host = parts.netloc
        if not _is_ours(parts.hostname or "", host, upstream, port):
            raise NotForwarded(
                421,
                f"This leads to Podium at {upstream.name} and not to {host[:200]}. Set HTTP_PROXY "
                f"for the kaggle command alone, or NO_PROXY={(parts.hostname or '')[:200]}.",
            )
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not path.startswith("/"):
        raise NotForwarded(405, "This leads to Podium and nowhere else: it makes no tunnels.")
    lines = [f"{head.method} {upstream.base}{path} HTTP/1.1"]
    lines += [f"{n}: {v}" for n, v in head.headers if n.lower() not in {*DROPPED, "host"}]
    lines += [f"Host: {upstream.name}", f"Authorization: Bearer {upstream.key}"]
    lines += [f"X-Podium-Origin: http://{host}", "Connection: close"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _is_ours(name: str, netloc: str, upstream: Upstream, port: int) -> bool:
    """Whether a client whose proxy this is asks for Kaggle's address here, or for Podium's own."""
    local = netloc.rpartition("@")[2].lower()
    return local == upstream.name.lower() or (
        name in ("localhost", "127.0.0.1", "::1")
        and local.removeprefix(f"[{name}]" if ":" in name else name) in ("", ":80", f":{port}")
    )


def _body_length(head: Head) -> int | None:
    """The body's length; None where it comes in chunks."""
    lengths, codings = set(head.values("content-length")), head.values("transfer-encoding")
    if codings:
        if lengths or [coding.lower() for coding in codings] != ["chunked"]:
            raise NotForwarded(400, "The request does not say clearly where its body ends.")
        return None
    if not lengths:
        return 0
    (length, *others) = lengths
    if others or not (length.isascii() and length.isdigit() and len(length) < 16):
        raise NotForwarded(400, "Content-Length is not one number.")
    return int(length)


async def _send_body(
    reader: StreamReader, back: StreamWriter, request: bytes, length: int | None
) -> None:
    back.write(request)
    if length is None:
        try:
            await _send_chunks(reader, back)
        except MALFORMED:
            back.close()  # Podium must not wait for the rest
            raise
    else:
        await _send_bytes(reader, back, length)
    await back.drain()


async def _send_bytes(reader: StreamReader, back: StreamWriter, length: int) -> None:
    while length:
        data = await reader.read(min(CHUNK, length))
        if not data:
            back.close()  # a cut upload must not look like a slow one
            return
        length -= len(data)
        back.write(data)
        await back.drain()


async def _send_chunks(reader: StreamReader, back: StreamWriter) -> None:
    size = -1
    while size:
        line = await reader.readuntil(b"\r\n")
        size = int(b"0" + line.split(b";")[0], 16)  # with a zero before it, no sign is taken
        back.write(line)
        await _send_bytes(reader, back, size)
        if size:
            back.write(await reader.readexactly(2))
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        back.write(line)
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
