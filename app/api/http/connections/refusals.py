"""Answers to requests that the application does not get: problem documents without a route."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import NamedTuple

import httptools

from app.errors import PodiumError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class RequestHeaderFieldsTooLarge(PodiumError):
    """The request line and headers, or the trailers, are larger than Podium reads.

    Send fewer or shorter headers, and long lists in a body.
    """

    status = 431


class RequestTimeout(PodiumError):
    """The head of a request, or the next piece of its body, came too late.

    PODIUM_HEAD_SECONDS and PODIUM_IDLE_SECONDS say how long Podium waits. Send the request again.
    """

    status = 408


class MisdirectedRequest(PodiumError):
    """Podium is not a proxy for this host.

    The client's HTTP_PROXY leads to Podium, which forwards nothing. Set the variable for Kaggle's
    command alone, or name the host in NO_PROXY.
    """

    status = 421


class Refusal(NamedTuple):
    """Why a connection is refused."""

    status: HTTPStatus
    detail: str

    def answer(self) -> bytes:
        """The complete response, after which the connection is closed."""
        phrase = self.status.phrase
        document = {
            "type": f"/problems/{phrase.lower().replace(' ', '-')}",
            "title": phrase,
            "status": self.status,
            "detail": self.detail,
        }
        body = json.dumps(document).encode()
        return (
            b"HTTP/1.1 %d %s\r\n" % (self.status, phrase.encode())
            + b"content-type: application/problem+json\r\nconnection: close\r\n"
            + b"content-length: %d\r\n\r\n" % len(body)
            + body
        )


NO_HTTP = Refusal(HTTPStatus.BAD_REQUEST, "The request is not valid HTTP/1.1.")
OTHER_PROTOCOL = Refusal(
    HTTPStatus.BAD_REQUEST,
    "Podium speaks plain HTTP/1.1, no other protocol: send the request without the header Upgrade.",
)
NOT_ONE_HOST = Refusal(
    HTTPStatus.BAD_REQUEST, "A request of HTTP/1.1 needs one header Host: send it, and once."
)
OTHER_CODING = Refusal(
    HTTPStatus.BAD_REQUEST,
    "Podium reads no Transfer-Encoding except 'chunked': name a compression in Content-Encoding.",
)
NO_ADDRESS = Refusal(
    HTTPStatus.BAD_REQUEST,
    "The target of the request is neither a path, as /readyz, nor an address that begins with "
    "http:// or https://.",
)
TOO_MANY_REQUESTS = Refusal(
    HTTPStatus.BAD_REQUEST, "Too many requests were sent before the answer to the first."
)


def head_too_large(most: int, headers: int) -> Refusal:
    """The refusal of a head beyond `most` bytes or `headers`, or of too long trailers."""
    return Refusal(
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        f"The request line and headers, or the trailers, are larger than {most // 1024} KiB, or "
        f"there are more than {headers} headers.",
    )


def head_too_late(seconds: float) -> Refusal:
    """The refusal of a head that takes longer."""
    return Refusal(
        HTTPStatus.REQUEST_TIMEOUT,
        f"The head of the request did not arrive within {seconds:g} seconds.",
    )


def refusal_of_target(method: bytes, target: bytes, port: int) -> Refusal | None:
    """The reason why this server at `port` does not serve a target; None if it does.

    >>> refusal_of_target(b"GET", b"ftp://localhost:7777/readyz", 7777) is NO_ADDRESS
    True
    >>> refusal_of_target(b"GET", b"/readyz?from=ftp://here", 7777)
    """
    if host := foreign_host(method, target, port):
        return no_proxy(host)
    is_served = target.lower().startswith((b"/", b"*", b"http://", b"https://"))
    return None if is_served else NO_ADDRESS


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


def no_proxy(host: str) -> Refusal:
    """The refusal of a request for another host, by a client whose proxy this is."""
    return Refusal(
        HTTPStatus.MISDIRECTED_REQUEST,
        f"Podium is not a proxy for {host} and has not forwarded the request. Set HTTP_PROXY for "
        f"the kaggle command alone, or NO_PROXY={host.rpartition(':')[0]}.",
    )
