"""The head of a request: which targets are allowed, and how it is rewritten for Podium."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

# Headers of one connection, headers that the proxy sets, and headers that no client may set.
DROPPED = frozenset({"connection", "proxy-connection", "proxy-authorization", "keep-alive",
                     "upgrade", "authorization", "x-podium-origin"})  # fmt: skip
# No control character in any part. For a lenient server a line feed in the target ends the line,
# and the rest would be a header of the agent that is not checked here.
FIRST_LINE = re.compile(r"([!-~]+) ([!-~\x80-\xff]+) HTTP/1\.[0-9]")
# A name is a token (RFC 9110). A lenient server may read "Transfer-Encoding", a NUL and ": chunked"
# as that header, and then part of the body as a request of the agent that is not checked here.
HEADER_LINE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00\r\n]*)")
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[^\r\n]*)?\r\n")


class NotForwarded(Exception):
    """A request that is not forwarded."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Upstream:
    """The target of requests, and the key that they get."""

    host: str
    port: int
    tls: bool
    base: str  # the prefix of every path, may be empty
    key: str

    @property
    def name(self) -> str:
        """Host and port in the form of a Host header."""
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
        ValueError: it is not an http or https address.
    """
    refusal = ValueError(f"{url!r} is not an address such as http://podium:7777")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # its message does not name the address
        raise refusal from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise refusal
    tls = parts.scheme == "https"
    port = port or (443 if tls else 80)
    return Upstream(parts.hostname, port, tls, parts.path.rstrip("/"), key)


def parsed(raw: bytes) -> Head:
    """The head in these bytes, up to the empty line.

    Raises:
        NotForwarded: they are not a head of HTTP/1.1.
    """
    first, *lines = raw[:-4].decode("latin-1").split("\r\n")
    start = FIRST_LINE.fullmatch(first)
    if start is None:
        raise NotForwarded(400, "This is not an HTTP/1.1 request.")
    headers = []
    for line in lines:
        header = HEADER_LINE.fullmatch(line)
        if header is None:
            raise NotForwarded(400, "A header of the request is not well formed.")
        headers.append((header[1], header[2].strip(" \t")))
    return Head(start[1], start[2], tuple(headers))


def rewritten(head: Head, upstream: Upstream, port: int) -> bytes:
    """The request for Podium, with the key, Podium's host, and the address that the client used.

    Raises:
        NotForwarded: it leads elsewhere.
    """
    path, host = head.target, (head.values("host") or [""])[0]
    if path.lower().startswith(("http://", "https://")):
        parts = urlsplit(path)
        host = parts.netloc
        if not _is_ours(parts.hostname or "", host, upstream, port):
            raise NotForwarded(
                421,
                f"This forwards to Podium at {upstream.name} and not to {host[:200]}. Set "
                "HTTP_PROXY for the kaggle command alone, or "
                f"NO_PROXY={(parts.hostname or '')[:200]}.",
            )
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not path.startswith("/"):
        raise NotForwarded(405, "This forwards only to Podium: it makes no tunnels.")
    if upstream.base and _leaves(path):
        raise NotForwarded(
            400, f"This forwards only to Podium: the path leads out of {upstream.base}."
        )
    lines = [f"{head.method} {upstream.base}{path} HTTP/1.1"]
    lines += [f"{n}: {v}" for n, v in head.headers if n.lower() not in {*DROPPED, "host"}]
    lines += [f"Host: {upstream.name}", f"Authorization: Bearer {upstream.key}"]
    lines += [f"X-Podium-Origin: http://{host}", "Connection: close"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _leaves(path: str) -> bool:
    """Whether a server may read the path as one outside the base, where other programs may be."""
    # "#" has no meaning in a request: for some servers it ends the path, for others it is part of
    # it.
    parts = re.split("[/#]", unquote(path.partition("?")[0]).replace("\\", "/"))
    return any(part.partition(";")[0] in (".", "..") for part in parts)


def _is_ours(name: str, netloc: str, upstream: Upstream, port: int) -> bool:
    """Whether a client that uses this as its proxy requests Kaggle's local address, or Podium's."""
    local = netloc.rpartition("@")[2].lower()
    return local == upstream.name.lower() or (
        name in ("localhost", "127.0.0.1", "::1")
        and local.removeprefix(f"[{name}]" if ":" in name else name) in ("", ":80", f":{port}")
    )


def body_length(head: Head) -> int | None:
    """The body's length; None if it comes in chunks.

    Raises:
        NotForwarded: the head does not say it clearly.
    """
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


def chunk_size(line: bytes) -> int:
    """The size of a chunk, from the line before it.

    Raises:
        NotForwarded: it is not a hexadecimal number, or another line is hidden in its extensions.
    """
    found = CHUNK_LINE.fullmatch(line)
    if found is None:
        raise NotForwarded(400, "A chunk of the request is not well formed.")
    return int(found[1], 16)
