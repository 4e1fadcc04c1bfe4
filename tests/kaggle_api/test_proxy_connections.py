"""`podium proxy` between an agent and a Podium of which one ends early."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from app.proxy import connect
from app.proxy.forward import MAX_CONNECTIONS
from app.proxy.request_head import NotForwarded, upstream_of
from tests.kaggle_api.test_proxy import forwarding, refusal
from tests.server import free_port

BIG = 20_000_000
REFUSED = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"


@pytest.fixture
def upstream() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


@pytest.fixture
def address(upstream: socket.socket, tmp_path: Path) -> Iterator[str]:
    to = f"http://127.0.0.1:{upstream.getsockname()[1]}"
    with forwarding(to, "pod_run_x", tmp_path, free_port()) as url:
        yield url


def accepted(upstream: socket.socket) -> socket.socket:
    """The proxy's connection, whose request's head was read."""
    there, _ = upstream.accept()
    there.settimeout(20)
    assert there.recv(4096).startswith(b"POST /")
    return there


def answered(address: str, upstream: socket.socket, answer: Callable[[socket.socket], None]) -> str:
    """The text of the answer to a large upload, of which this upstream reads the beginning."""

    def answer_one() -> None:
        with accepted(upstream) as there:
            answer(there)

    with ThreadPoolExecutor(1) as beside:
        answering = beside.submit(answer_one)
        text = httpx.post(f"{address}/v1", content=b"x" * BIG, trust_env=False).text
        answering.result()
    return text


def test_an_answer_before_the_end_of_a_large_upload_arrives(address, upstream):
    """Podium refused one, and half of the time the agent saw a connection that ended."""
    for _ in range(20):
        assert answered(address, upstream, lambda there: there.sendall(REFUSED)) == "no"


def test_a_client_sends_all_of_what_the_proxy_refuses(address):
    """A client that could not send on, such as curl, did not read the refusal at times."""
    port = int(address.rpartition(":")[2])
    head = b"POST http://llm:8000/v1 HTTP/1.1\r\nHost: llm\r\nContent-Length: %d\r\n\r\n" % BIG
    with socket.create_connection(("127.0.0.1", port), 20) as agent:
        agent.sendall(head + b"x" * BIG)
        assert agent.recv(4096).startswith(b"HTTP/1.1 421")


def test_podium_waits_for_no_client_that_has_gone(address, upstream):
    """Each such request kept two connections for as long as Podium did not answer."""
    port = int(address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as agent:
        agent.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx")
        there = accepted(upstream)
    with there, contextlib.suppress(ConnectionResetError):
        while there.recv(4096):
            pass


def test_a_podium_that_takes_no_connection_is_said_to_be_silent(monkeypatch):
    """The sentence ended in ": ."."""
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 0.5)
    with contextlib.ExitStack() as opened:
        full = opened.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # the kernel accepts one for the program, and drops the others
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        there = upstream_of(f"http://127.0.0.1:{full.getsockname()[1]}", "pod_run_x")

        with pytest.raises(NotForwarded, match=r"reached: no connection in 0\.5 seconds\.$"):
            asyncio.run(connect.connect(there, None))


def test_a_client_that_asks_for_nothing_is_told_nothing(address):
    port = int(address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


def test_connections_have_a_bound(upstream, tmp_path):
    """Beyond its open files the proxy wrote thousands of tracebacks a second to its log."""
    with contextlib.ExitStack() as opened:
        to = f"http://127.0.0.1:{upstream.getsockname()[1]}"
        url = opened.enter_context(forwarding(to, "pod_run_x", tmp_path, free_port()))
        port = int(url.rpartition(":")[2])
        clients = [
            opened.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            for _ in range(MAX_CONNECTIONS)
        ]

        refused = httpx.get(f"{url}/v1", trust_env=False)

        assert (refused.status_code, refused.json()["code"]) == (503, 503)
        assert f"forwards {MAX_CONNECTIONS} requests at once" in refused.json()["message"]
        clients[0].close()  # then there is room for one, soon
        deadline = time.monotonic() + 20
        while (code := refusal(url, "nonsense\r\n\r\n")["code"]) == 503:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert code == 400
