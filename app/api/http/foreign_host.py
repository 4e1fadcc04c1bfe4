"""Requests for other hosts, which arrive from clients whose HTTP_PROXY leads to Podium."""

from __future__ import annotations

import httptools

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def foreign_host(method: bytes, target: bytes, port: int) -> str:
    """The host and port that a proxy is asked to reach, if that is not this server at `port`.

    Kaggle's client asks for `localhost` without a port. A server cannot know its own names, so
    every name with its own port counts as one.

    >>> foreign_host(b"POST", b"http://llm:8000/v1/chat/completions", 7777)
    'llm:8000'
    >>> foreign_host(b"GET", b"http://localhost/api/v1/competitions/list", 7777)
    ''
    """
    try:
        if method == b"CONNECT":
            return target.decode("ascii", "replace")[:200]
        if not target.lower().startswith((b"http://", b"https://")):
            return ""
        asked = httptools.parse_url(target)
    except httptools.HttpParserInvalidURLError:
        return ""
    name = (asked.host or b"").decode("ascii", "replace")[:200]
    wanted = asked.port or (443 if asked.schema.lower() == b"https" else 80)
    if wanted == port or (wanted == 80 and name.lower() in LOOPBACK):
        return ""
    return f"{name}:{wanted}"
