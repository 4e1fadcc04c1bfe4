"""Who sends one request after the other on a thousand connections stops nobody else."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from tests.api.conftest import Podium
from tests.attacks.sockets import Watch, allow_files, connections, send_all
from tests.server import NO_CERTIFICATES, PodiumServer

SETTINGS = {"graders": 1, "connections": 2000}  # 1,000 of one address
HOST = b"HTTP/1.1\r\nHost: x\r\n"
WRONG_KEY = b"Authorization: Bearer pod_run_" + b"a" * 32 + b"\r\n"
LOGIN = b"key=pod_researcher_" + b"a" * 32
FLOODS = {
    "health": b"GET /healthz " + HOST + b"\r\n",
    "heads": b"HEAD /healthz " + HOST + b"\r\n",
    "readiness": b"GET /readyz " + HOST + b"\r\n",
    "no key": b"GET /v1/runs " + HOST + b"\r\n",
    "wrong key": b"GET /v1/runs " + HOST + WRONG_KEY + b"\r\n",
    "bodies": b"POST /v1/experiments " + HOST + WRONG_KEY + b"Content-Length: 9\r\n\r\n{'a': 12}",
    "logins": b"POST /login " + HOST + b"Content-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: %d\r\n\r\n" % len(LOGIN) + LOGIN,
    "no page": b"GET /nothing " + HOST + b"\r\n",
    "large answers": b"GET /openapi.json " + HOST + b"\r\n",
}
SECONDS = 6.0  # an answer takes about 0.1; it took more than 10


class Flood:
    """Connections that send a request again whenever it was answered, and come back when closed."""

    def __init__(self, port: int, request: bytes, count: int) -> None:
        self._port, self._request, self._count = port, request, count
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.all_answered = threading.Event()

    def __enter__(self) -> Flood:
        allow_files(self._count + 500)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        answers = 0
        with selectors.DefaultSelector() as ready:
            for _ in range(self._count):
                self._connect(ready)
            while not self._ended.is_set():
                for key, _ in ready.select(0.2):
                    one = key.fileobj
                    assert isinstance(one, socket.socket)
                    try:
                        answers += self._serve(ready, one, is_new=key.data)
                    except OSError:
                        ready.unregister(one)
                        one.close()
                        self._connect(ready)
                if answers >= self._count:
                    self.all_answered.set()
            for key in list(ready.get_map().values()):
                assert isinstance(key.fileobj, socket.socket)
                key.fileobj.close()

    def _connect(self, ready: selectors.BaseSelector) -> None:
        one = socket.socket()
        one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            one.connect(("127.0.0.1", self._port))
        ready.register(one, selectors.EVENT_WRITE, data=True)

    def _serve(self, ready: selectors.BaseSelector, one: socket.socket, *, is_new: bool) -> int:
        """Send the request if nothing is owed; gives how many answers have come."""
        if is_new:
            one.send(self._request)
            ready.modify(one, selectors.EVENT_READ, data=False)
            return 0
        came = one.recv(1 << 20)
        if not came:
            raise ConnectionResetError
        if b"HTTP/1.1 " not in came:
            return 0
        one.send(self._request)
        return 1


@contextlib.contextmanager
def client(server: PodiumServer) -> Iterator[httpx.Client]:
    """Somebody with a key, who waits SECONDS for each answer and connects anew for each request."""
    with server.client() as client:
        client.timeout = httpx.Timeout(SECONDS)
        client.headers["Connection"] = "close"
        yield client


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_requests_keeps_no_valid_key_waiting(server: PodiumServer, kind: str) -> None:
    with client(server) as known:
        assert known.get("/v1/runs").status_code == 200

        with Flood(server.port, FLOODS[kind], 900) as flood:
            assert flood.all_answered.wait(60)
            answers = [known.get("/v1/runs").status_code for _ in range(3)]

    assert answers == [200] * 3


AGENTS_FLOODS = {
    "health": "GET /healthz",
    "no page": "GET /nothing",
    "another's run": "POST /v1/runs/run_1/submissions",
    "own run": "GET /v1/runs/{id}",
}


@pytest.mark.parametrize("kind", AGENTS_FLOODS)
def test_a_flood_with_a_runs_key_keeps_no_other_key_waiting(
    server: PodiumServer, podium: Podium, kind: str
) -> None:
    run = podium.run(podium.competition())
    run.client.get(f"/v1/runs/{run.id}").raise_for_status()  # the key is known now
    line = AGENTS_FLOODS[kind].format(id=run.id)
    length = "Content-Length: 3\r\n\r\nid," if line.startswith("POST") else "\r\n"
    key = f"Authorization: Bearer {run.document['key']}\r\n"
    request = f"{line} ".encode() + HOST + f"Content-Type: text/csv\r\n{key}{length}".encode()

    with client(server) as known:
        assert known.get("/v1/runs").status_code == 200

        with Flood(server.port, request, 900) as flood:
            assert flood.all_answered.wait(60)
            answers = [known.get("/v1/runs").status_code for _ in range(3)]

    assert answers == [200] * 3


@pytest.mark.parametrize("kind", ["no key", "heads"])
def test_a_flood_on_all_connections_of_an_address_keeps_no_valid_key_out(
    server: PodiumServer, kind: str
) -> None:
    """Every connection had a request that waited, so each new one was closed."""
    with client(server) as known:
        assert known.get("/v1/runs").status_code == 200

        with Flood(server.port, FLOODS[kind], 1000) as flood:
            assert flood.all_answered.wait(60)
            answers = [known.get("/v1/runs").status_code for _ in range(3)]

    assert answers == [200] * 3


def test_strangers_are_answered_in_turn(server: PodiumServer) -> None:
    with Flood(server.port, FLOODS["no key"], 500) as flood:
        assert flood.all_answered.wait(60)
        answer = httpx.get(f"{server.url}/healthz", timeout=30, verify=NO_CERTIFICATES)

    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_requests_of_clients_that_have_gone_are_not_kept(server: PodiumServer, method: str) -> None:
    """Each keeps up to 64 KB of headers, and was counted among no connections any more."""
    head = f"{method} /v1/runs HTTP/1.1\r\nHost: x\r\nX-Long: {'a' * 60_000}\r\n\r\n".encode()
    with Watch(server) as watch:
        for _ in range(5):
            with connections(server, 900) as opened:
                assert send_all(opened, head) == 900

    assert watch.grown < 100
