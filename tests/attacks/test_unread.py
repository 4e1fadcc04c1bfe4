"""Clients that ask and read nothing: their answers neither fill the memory nor keep others out."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import httpx
import psutil
import pytest

from tests.api.conftest import Podium, Run
from tests.attacks.sockets import Watch, connections, send_all, warmed
from tests.factories import good_submission
from tests.server import NO_CERTIFICATES, PodiumServer

IDLE = 2.0  # seconds
SETTINGS = {
    "graders": 1, "connections": 100, "connections_per_address": 100, "idle_seconds": IDLE,
    "head_seconds": 60, "event_heartbeat_seconds": 0.2,
}  # fmt: skip
ASK = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def wide_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """A server that takes a thousand connections of one address."""
    limits = {"connections": 2000, "connections_per_address": 2000}
    data = tmp_path_factory.mktemp("wide") / "data"
    started = warmed(PodiumServer(data, graders=1, **limits).start())
    yield started
    started.stop()


def health(server: PodiumServer, seconds: float = 10.0) -> int:
    answer = httpx.get(
        f"{server.url}/healthz", trust_env=False, timeout=seconds, verify=NO_CERTIFICATES
    )
    return answer.status_code


def is_let_in(server: PodiumServer) -> bool:
    try:
        return health(server) == 200
    except httpx.TransportError:
        return False


def without_buffer(server: PodiumServer) -> socket.socket:
    """A connection whose client takes a few kilobytes before it reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    client.connect(("127.0.0.1", server.port))
    return client


def read_all(client: socket.socket) -> None:
    while client.recv(65536):
        pass


def test_unread_answers_keep_nobody_out(server: PodiumServer) -> None:
    with connections(server, 100) as opened:
        send_all(opened, ASK * 30, seconds=5)
        until = time.monotonic() + 20  # it takes two looks to see that nobody reads
        while not is_let_in(server) and time.monotonic() < until:
            time.sleep(0.5)
        answers = [health(server) for _ in range(30)]

    assert answers == [200] * 30


def test_an_unread_answer_is_dropped(server: PodiumServer) -> None:
    with without_buffer(server) as client:
        client.sendall(ASK * 30)
        time.sleep(IDLE + 4)
        size = len(client.recv(65536))
        with pytest.raises(ConnectionResetError):
            read_all(client)

    assert size < 65536


def test_unread_downloads_are_dropped(server: PodiumServer, podium: Podium) -> None:
    folder = podium.competition(rows=200_000)
    run = podium.run(folder, feedback="full")
    sent = run.submit(good_submission(folder))
    assert sent.status_code == 201, sent.text
    target = f"GET /v1/submissions/{sent.json()['id']}/file HTTP/1.1\r\nHost: x\r\n"
    ask = f"{target}Authorization: Bearer {run.document['key']}\r\n\r\n".encode()

    def leased() -> int:
        return sum(file.path.endswith(sent.json()["sha256"][2:]) for file in process.open_files())

    process = psutil.Process(server.process.pid)
    clients = [without_buffer(server) for _ in range(50)]
    try:
        for client in clients:
            client.sendall(ask)
        time.sleep(1)
        held = leased()
        until = time.monotonic() + IDLE + 8
        while leased() and time.monotonic() < until:
            time.sleep(0.2)
        left = leased()
    finally:
        for client in clients:
            client.close()

    assert held > 0
    assert left == 0


def test_a_slow_reader_of_a_download_gets_all_of_it(server: PodiumServer) -> None:
    with without_buffer(server) as client:
        client.sendall(ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        received = b""
        started = time.monotonic()
        while more := client.recv(50_000):
            received += more
            time.sleep(0.15)  # more than IDLE in all

    head, _, body = received.partition(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if b"content-length" in line)
    assert len(body) == int(length.partition(b":")[2])
    assert time.monotonic() - started > IDLE


def test_a_stream_whose_client_reads_nothing_is_dropped(
    server: PodiumServer, podium: Podium
) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    for _ in range(30):
        run.submit(good_submission(folder))
    target = f"GET /v1/runs/{run.id}/events HTTP/1.1\r\nHost: x\r\n"
    ask = f"{target}Authorization: Bearer {run.document['key']}\r\n\r\n".encode()

    clients = [without_buffer(server) for _ in range(8)]
    try:
        for client in clients:
            client.sendall(ask)
        time.sleep(1)
        full = run.client.get(f"/v1/runs/{run.id}/events")
        until = time.monotonic() + 60
        while has_all_streams(run) and time.monotonic() < until:
            time.sleep(0.5)
        after = has_all_streams(run)
    finally:
        for client in clients:
            client.close()

    assert full.status_code == 429
    assert not after


def has_all_streams(run: Run) -> bool:
    with run.client.stream("GET", f"/v1/runs/{run.id}/events") as answer:
        return answer.status_code == 429


def test_pipelined_requests_are_all_answered(server: PodiumServer) -> None:
    count = 2500  # several reads of the server, and more than calls may be nested
    ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.setblocking(False)
        sent, received = 0, b""
        data = ask * count
        until = time.monotonic() + 60
        while received.count(b"HTTP/1.1 200") < count and time.monotonic() < until:
            with contextlib.suppress(BlockingIOError):
                sent += client.send(data[sent : sent + 65536]) if sent < len(data) else 0
            try:
                received += client.recv(1 << 20)
            except BlockingIOError:
                time.sleep(0.001)

    assert received.count(b"HTTP/1.1 200") == count


def test_pipelined_bodies_are_read_each_as_its_own(server: PodiumServer) -> None:
    body = b'{"name": "x"}'
    head = f"POST /v1/experiments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key}\r\n"
    plain = head + f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    in_chunks = head + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    one = plain.encode() + body
    two = in_chunks.encode() + chunks
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall((one + two + ASK) * 2 + two + one)
        received = b""
        while received.count(b"HTTP/1.1 ") < 8:
            received += client.recv(1 << 20)

    found = [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]
    assert found == [b"422", b"422", b"200", b"422", b"422", b"200", b"422", b"422"]


def test_bytes_of_a_body_that_are_refused_early_do_not_block_the_next_request(
    server: PodiumServer,
) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=10) as client:
        answers = [
            client.post("/login", content=b"a" * 300_000, headers={"Content-Type": kind})
            for kind in ["application/x-www-form-urlencoded"] * 3
        ]

    assert [answer.status_code for answer in answers] == [413] * 3


@pytest.mark.parametrize("path", ["/openapi.json", "/docs/swagger-ui-bundle.js"])
def test_a_thousand_unread_answers_take_little_memory(wide_server: PodiumServer, path: str) -> None:
    ask = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with Watch(wide_server) as watch, connections(wide_server, 1000) as opened:
        send_all(opened, ask * 30, seconds=20)
        time.sleep(3)
    assert watch.grown < 300
    assert watch.failed == []


def test_requests_that_come_faster_than_they_are_answered_wait_unread(
    wide_server: PodiumServer,
) -> None:
    """Each answer let the server read more than the request had: it kept all that was sent."""
    ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n" % (b"a" * 60_000)
    left = {}
    with Watch(wide_server) as watch, connections(wide_server, 100) as opened:
        until = time.monotonic() + 6
        for one in opened:
            one.setblocking(False)
        while time.monotonic() < until:
            for one in opened:
                with contextlib.suppress(BlockingIOError):
                    rest = left.get(one) or ask
                    left[one] = rest[one.send(rest) :]
                with contextlib.suppress(BlockingIOError):
                    one.recv(65536)
    assert watch.grown < 100
    assert watch.failed == []
