"""Bodies in many chunks behind a head whose end comes in two packets."""

from __future__ import annotations

import socket
import time

import psutil
import pytest

from tests.server import PodiumServer

HEAD = (
    b"POST /v1/experiments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
CHUNK = b"1\r\nx\r\n"
NEXT = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def refused(server: PodiumServer, at: int, chunks: int) -> socket.socket:
    """A connection whose request was refused after so many chunks of a byte; its body goes on."""
    connection = socket.create_connection(("127.0.0.1", server.port), 20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(HEAD[: len(HEAD) - at])
    time.sleep(0.05)
    connection.sendall(HEAD[len(HEAD) - at :] + CHUNK * chunks)
    assert connection.recv(65536).startswith(b"HTTP/1.1 401")
    return connection


@pytest.mark.parametrize("chunks", [1200, 3000, 5000])
@pytest.mark.parametrize("at", [0, 1, 2, 3, 4])
def test_the_request_behind_such_a_body_is_answered(
    server: PodiumServer, at: int, chunks: int
) -> None:
    """Its connection waited for a turn that it was never given."""
    with refused(server, at, chunks) as connection:
        connection.sendall(CHUNK * chunks + b"0\r\n\r\n" + NEXT)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))

    assert answer.count(b"HTTP/1.1 200") == 1


def test_connections_of_clients_that_have_gone_are_closed(server: PodiumServer) -> None:
    """They stayed open for good, so that their address could not connect any more."""
    for _ in range(30):
        with refused(server, 1, 1400) as connection:
            connection.sendall(CHUNK)
            time.sleep(0.01)
    process, deadline = psutil.Process(server.process.pid), time.monotonic() + 20
    while (left := len(open_ones(process, server.port))) and time.monotonic() < deadline:
        time.sleep(0.1)

    assert left == 0


def open_ones(process: psutil.Process, port: int) -> list[object]:
    return [one for one in process.net_connections("tcp") if one.laddr.port == port and one.raddr]
