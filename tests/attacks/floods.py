"""Many connections that send a request again whenever it was answered."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading

from tests.attacks.sockets import allow_files

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
AGENTS_FLOODS = {
    "health": "GET /healthz",
    "no page": "GET /nothing",
    "another's run": "POST /v1/runs/run_1/submissions",
    "own run": "GET /v1/runs/{id}",
}


def agents_request(kind: str, run: str, key: str) -> bytes:
    """A request with a run's key, of a kind of AGENTS_FLOODS."""
    line = AGENTS_FLOODS[kind].format(id=run)
    length = "Content-Length: 3\r\n\r\nid," if line.startswith("POST") else "\r\n"
    headers = f"Content-Type: text/csv\r\nAuthorization: Bearer {key}\r\n{length}"
    return f"{line} ".encode() + HOST + headers.encode()


class Flood:
    """Connections that send a request again whenever it was answered, and come back when closed."""

    def __init__(self, port: int, request: bytes, count: int, source: str = "127.0.0.1") -> None:
        self._port, self._request, self._count, self._source = port, request, count, source
        self.answers = 0
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
        with selectors.DefaultSelector() as ready:
            for _ in range(self._count):
                self._connect(ready)
            while not self._ended.is_set():
                for key, _ in ready.select(0.2):
                    one = key.fileobj
                    assert isinstance(one, socket.socket)
                    try:
                        self.answers += self._serve(ready, one, is_new=key.data)
                    except OSError:
                        ready.unregister(one)
                        one.close()
                        self._connect(ready)
                if self.answers >= self._count:
                    self.all_answered.set()
            for key in list(ready.get_map().values()):
                assert isinstance(key.fileobj, socket.socket)
                key.fileobj.close()

    def _connect(self, ready: selectors.BaseSelector) -> None:
        one = socket.socket()
        one.bind((self._source, 0))
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
