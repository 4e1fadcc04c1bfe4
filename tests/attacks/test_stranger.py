"""Somebody without a key, who can reach the port: nothing that is sent stops the server."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.attacks.sockets import MEGABYTE, allow_files, resident
from tests.server import NO_CERTIFICATES, PodiumServer

SETTINGS = {"graders": 2, "connections": 300}


def health(server: PodiumServer) -> httpx.Response:
    """The answer to somebody who comes now, on a connection of his own."""
    return httpx.get(f"{server.url}/healthz", trust_env=False, timeout=10, verify=NO_CERTIFICATES)


def send_until_refused(server: PodiumServer, pieces: Iterator[bytes]) -> bytes:
    """Send pieces until the server answers or hangs up; gives its answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as stranger:
        answer = b""
        try:
            for piece in pieces:
                stranger.sendall(piece)
        except OSError:
            pass
        try:
            while more := stranger.recv(65536):
                answer += more
        except OSError:
            pass
    return answer


def endless_header() -> Iterator[bytes]:
    yield b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: "
    for _ in range(64):
        yield b"a" * MEGABYTE


def endless_headers() -> Iterator[bytes]:
    yield b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    for _ in range(64):
        yield b"a:b\r\n" * (MEGABYTE // 5)


def endless_address() -> Iterator[bytes]:
    yield b"GET /"
    for _ in range(64):
        yield b"a" * MEGABYTE


@pytest.mark.parametrize("pieces", [endless_header, endless_headers, endless_address])
def test_a_head_without_end_is_refused(
    server: PodiumServer, pieces: Callable[[], Iterator[bytes]]
) -> None:
    before = resident(server)

    started = time.monotonic()
    answer = send_until_refused(server, pieces())
    took = time.monotonic() - started

    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    assert took < 15
    assert resident(server) - before < 50 * MEGABYTE
    assert health(server).status_code == 200


@pytest.mark.parametrize("count", [1, 2000])
def test_a_head_that_is_too_large_in_one_piece_is_told(server: PodiumServer, count: int) -> None:
    size = 70 * 1024 // count
    headers = "".join(f"X-{n}: {'a' * size}\r\n" for n in range(count))
    request = f"GET /healthz HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode()

    answer = send_until_refused(server, iter([request]))

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 431


def test_headers_are_bounded_by_their_number_too(server: PodiumServer) -> None:
    """A thousand connections had 1,800 each, in 300 MB: four times as much as long headers take."""
    answers = [
        send_until_refused(
            server,
            iter(
                [
                    b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
                    + b"ab: cd\r\n" * count
                    + b"Connection: close\r\n\r\n"
                ]
            ),
        )
        for count in (398, 399)
    ]

    assert [answer.split(b" ")[1] for answer in answers] == [b"200", b"431"]


def test_ordinary_heads_are_served(server: PodiumServer) -> None:
    headers = {f"X-{n}": "a" * 1000 for n in range(50)}

    with httpx.Client(trust_env=False, verify=NO_CERTIFICATES) as client:
        answers = [client.get(f"{server.url}/healthz", headers=headers) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200] * 3


@pytest.mark.parametrize(
    "request_head",
    [b"NOT HTTP AT ALL", b"GET /healthz", b"GET /healthz\nX: HTTP/1.1\r\nHost: x",
     b"GET /healthz HTTP/0.9\r\nHost: x", b"GET /healthz HTTP/2.0\r\nHost: x"],
)  # fmt: skip
def test_what_is_no_http_is_told_as_a_problem(server: PodiumServer, request_head: bytes) -> None:
    answer = send_until_refused(server, iter([request_head + b"\r\n\r\n"]))

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["title"] == "Bad Request"


@pytest.mark.parametrize("has_key", [True, False])
@pytest.mark.parametrize(
    "rest",
    [
        b"Transfer-Encoding: identity\r\n\r\nid,target\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\nid\r\n0\r\nContent-Length: 0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\nidX0\r\n\r\n",
    ],
)
def test_a_body_that_is_no_http_is_told_as_a_problem(
    server: PodiumServer, rest: bytes, has_key: bool
) -> None:
    key = f"Authorization: Bearer {server.key}\r\n" if has_key else ""
    head = f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{key}"

    answer = send_until_refused(server, iter([head.encode() + rest]))

    status = int(answer[9:12] or 0)
    assert status in ((400,) if has_key else (400, 401)), answer
    assert b"application/problem+json" in answer
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("hosts", [b"", b"Host: x\r\nHost: x\r\n", b"Host: x\r\nhOst: y\r\n"])
def test_a_request_names_one_host(server: PodiumServer, hosts: bytes) -> None:
    """Of two, a proxy in front may look at the other one. Only HTTP/1.0 has none."""
    request = b"GET /healthz HTTP/1.%d\r\n%s\r\n"

    answer = send_until_refused(server, iter([request % (1, hosts)]))
    of_old_client = send_until_refused(server, iter([request % (0, hosts)]))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"one header Host" in answer
    assert of_old_client.startswith(b"HTTP/1.1 400 " if hosts else b"HTTP/1.1 200 ")


@pytest.mark.parametrize("method", [b"OPTIONS", b"GET", b"POST"])
def test_an_address_without_a_slash_is_no_error_of_ours(
    server: PodiumServer, method: bytes
) -> None:
    answer = send_until_refused(server, iter([method + b" * HTTP/1.1\r\nHost: x\r\n\r\n"]))

    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"application/problem+json" in answer


@pytest.mark.parametrize("codings", [b"gzip, chunked", b"chunked;q=1"])
def test_a_body_in_another_transfer_coding_is_refused_in_words(
    server: PodiumServer, codings: bytes
) -> None:
    """It was taken as it came: a file sent so was rejected, as if the agent had packed it."""
    head = b"POST /v1/runs/x/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
    body = b"Transfer-Encoding: %s\r\n\r\n3\r\nid\n\r\n0\r\n\r\n" % codings

    answer = send_until_refused(server, iter([head % server.key.encode() + body]))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Transfer-Encoding" in answer


@pytest.mark.parametrize("coding", [b"chunked", b"Chunked", b"CHUNKED", b"chunked "])
def test_the_name_of_the_transfer_coding_has_no_case(server: PodiumServer, coding: bytes) -> None:
    head = b"POST /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    body = b"Transfer-Encoding: %s\r\n\r\n3\r\nid\n\r\n0\r\n\r\n" % coding

    assert send_until_refused(server, iter([head + body])).startswith(b"HTTP/1.1 404 ")


def test_a_client_of_http_1_0_gets_one_answer_whatever_it_expects(server: PodiumServer) -> None:
    """It takes the first answer for that to its request, whatever the status."""
    head = b"POST /v1/runs HTTP/1.0\r\nExpect: 100-continue\r\nAuthorization: Bearer "
    rest = server.key.encode() + b"\r\nContent-Length: 2\r\n\r\n{}"

    answer = send_until_refused(server, iter([head + rest]))

    assert answer.startswith(b"HTTP/1.1 422 ")


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"TLS/1.3"])
@pytest.mark.parametrize("body", [b"", b"id,target\n"])
def test_another_protocol_is_refused_in_words(
    server: PodiumServer, protocol: bytes, body: bytes
) -> None:
    """Some clients of HTTP/2 ask for it in their first request, and need an answer."""
    head = b"POST /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: " + protocol
    request = head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    answer = send_until_refused(server, iter([request]))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"without the header Upgrade" in answer


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("has_key", [True, False])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/runs"), ("POST", "/v1/experiments"), ("PATCH", "/v1/runs/x"),
     ("PUT", "/v1/runs/x/selected"), ("POST", "/v1/runs/x/reported-scores")],
)  # fmt: skip
def test_a_large_json_body_is_refused_before_it_is_kept(
    server: PodiumServer, method: str, path: str, has_key: bool, announced: bool
) -> None:
    before = resident(server)

    def body() -> Iterator[bytes]:
        yield b'"'
        for _ in range(100):
            yield b"a" * MEGABYTE
        yield b'"'

    refused = 413 if has_key else 401
    headers = {"Content-Type": "application/json"}
    if has_key:
        headers["Authorization"] = f"Bearer {server.key}"
    if announced:
        headers["Content-Length"] = str(100 * MEGABYTE + 2)
    try:
        status = httpx.request(
            method,
            f"{server.url}{path}",
            content=body(),
            headers=headers,
            trust_env=False,
            verify=NO_CERTIFICATES,
        ).status_code
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        status = refused  # the server hung up while the body was still being sent

    assert status == refused
    assert resident(server) - before < 30 * MEGABYTE


def test_a_thousand_silent_connections_keep_nobody_out(server: PodiumServer) -> None:
    allow_files(2000)
    silent = []
    try:
        for _ in range(1000):
            silent.append(socket.create_connection(("127.0.0.1", server.port), timeout=20))
        answers = [health(server).status_code for _ in range(20)]
    finally:
        for one in silent:
            one.close()

    assert answers == [200] * 20


def test_half_sent_bodies_keep_nobody_out(server: PodiumServer, tmp_path: Path) -> None:
    half = b"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    silent = []
    try:
        for _ in range(400):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            one.sendall(half)
            silent.append(one)
        answer = health(server)
    finally:
        for one in silent:
            one.close()

    assert answer.status_code == 200


def test_ids_of_requests_do_not_count_those_of_others(server: PodiumServer) -> None:
    """They had a count at their end: a poll that ended when a grade was there could be seen."""
    with server.client("none") as nobody:
        ids = [nobody.get("/healthz").headers["X-Request-Id"] for _ in range(20)]

    assert len(set(ids)) == 20
    assert ids != sorted(ids, key=lambda one: (len(one), one))
    assert len({one[:6] for one in ids}) > 15
