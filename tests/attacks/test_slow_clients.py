"""Clients that begin and do not go on: each wait has a limit, and trailers count as heads do."""

from __future__ import annotations

import json
import socket
import time

import httpx
import psutil
import pytest

from tests.api.conftest import Podium
from tests.attacks.sockets import MEGABYTE, connections, is_closed, resident
from tests.server import PodiumServer

HEAD, IDLE = 1.0, 2.0  # seconds
SETTINGS = {"graders": 1, "head_seconds": HEAD, "idle_seconds": IDLE, "connections": 200}
LATE = 15.0  # seconds for the server to see it, on a busy machine


def answer_of(client: socket.socket) -> bytes:
    received = b""
    client.settimeout(LATE)
    while more := client.recv(65536):
        received += more
    return received


@pytest.mark.parametrize(
    "begun", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\n"]
)
def test_an_unfinished_head_is_answered_408(server: PodiumServer, begun: bytes) -> None:
    started = time.monotonic()  # before the server can begin to count
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(begun)
        answer = answer_of(client)
        took = time.monotonic() - started

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["type"] == "/problems/request-timeout"
    assert took > HEAD


def test_a_head_that_trickles_is_answered_408(server: PodiumServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        answer = b""
        client.settimeout(0.2)
        until = time.monotonic() + LATE
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ")
        while not answer and time.monotonic() < until:
            try:
                client.sendall(b"a")
                answer = client.recv(65536)
            except TimeoutError:
                continue

    assert answer.startswith(b"HTTP/1.1 408 ")


def test_an_idle_body_ends_and_stores_nothing(server: PodiumServer, podium: Podium) -> None:
    run = podium.run(podium.competition(), feedback="full")
    head = (
        f"POST /v1/runs/{run.id}/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n"
        f"Authorization: Bearer {run.document['key']}\r\nContent-Length: 1000000\r\n\r\nid,"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        started = time.monotonic()
        client.sendall(head.encode())
        closed = is_closed(client, LATE)
        took = time.monotonic() - started

    assert closed
    assert took > IDLE
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []


def test_a_body_that_goes_on_is_not_idle(server: PodiumServer, podium: Podium) -> None:
    body = b'{"name": "slow-%d", "agent": "a", "model": "m"}' % time.monotonic_ns()
    head = (
        f"POST /v1/experiments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {server.key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=LATE) as client:
        client.sendall(head.encode())
        started = time.monotonic()
        for n in range(0, len(body), 10):
            client.sendall(body[n : n + 10])
            time.sleep(0.6)
        answer = client.recv(65536)

    assert time.monotonic() - started > IDLE
    assert answer.startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize("piece", [b"a" * 65536, b"X-A: b\r\n" * 8192, b"\r\n1;" + b"e" * 65533])
def test_trailers_and_extensions_have_a_bound(server: PodiumServer, piece: bytes) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
    begun = b"1;" if b";" in piece else b"0\r\nX-Long: " if b"\r" not in piece else b"0\r\n"
    before, sent = resident(server), 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=LATE) as client:
        client.sendall(head + begun)
        try:
            while sent < 64 * MEGABYTE:
                client.sendall(piece)
                sent += len(piece)
        except OSError:
            pass

    assert sent < 32 * MEGABYTE  # with what the kernel took
    assert resident(server) - before < 20 * MEGABYTE


def test_a_trailer_is_no_header(server: PodiumServer) -> None:
    request = (
        b"POST /v1/experiments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\n{}\r\n0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=LATE) as client:
        client.sendall(request % server.key.encode())
        answer = client.recv(65536)

    assert answer.startswith(b"HTTP/1.1 401 ")


def test_small_chunks_are_no_trailers(server: PodiumServer) -> None:
    size = 100_000
    body = b'{"name": "' + b"n" * size + b'"}'
    head = (
        f"POST /v1/experiments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {server.key}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(head.encode() + chunks)
        answer = client.recv(65536)

    assert answer.startswith(b"HTTP/1.1 422 ")


def test_one_address_has_half_of_the_connections(server: PodiumServer) -> None:
    with connections(server, 150) as opened:
        assert sum(is_closed(one, 10.0) for one in opened[:20]) == 20
        other = socket.create_connection(
            ("127.0.0.1", server.port), timeout=10, source_address=("127.0.0.2", 0)
        )
        with other:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert other.recv(100).startswith(b"HTTP/1.1 200 ")


def test_readiness_tells_connections_and_descriptors(server: PodiumServer) -> None:
    def use() -> dict[str, int]:
        answer = httpx.get(f"{server.url}/readyz", trust_env=False)
        assert answer.status_code == 200
        found: dict[str, int] = answer.json()["connections"]
        return found

    before = use()
    with connections(server, 90):
        during = use()

    assert before["most"] == during["most"] == 200
    assert (before["open"], during["open"]) == (64, 128)  # rounded up
    assert before["descriptors"] == during["descriptors"] == 256
    assert during["limit"] == psutil.Process(server.process.pid).rlimit(psutil.RLIMIT_NOFILE)[0]
