"""Many raw connections at once, to a server that is attacked."""

from __future__ import annotations

import contextlib
import resource
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator, Sequence

import httpx
import psutil

from tests.server import NO_CERTIFICATES, PodiumServer

MEGABYTE = 1 << 20
RESET = struct.pack("ii", 1, 0)  # closing it throws away what was not sent or read: socket(7)


def allow_files(count: int) -> None:
    """Raise the limit of open files of this process, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))


@contextlib.contextmanager
def connections(server: PodiumServer, count: int) -> Iterator[list[socket.socket]]:
    """So many open connections. In the end they are reset, so that the server reads no more.

    After an ordinary end it would work for seconds on the bodies that are left.
    """
    allow_files(count + 500)
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            opened.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        yield opened
    finally:
        for one in opened:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            one.close()


def send_all(opened: Sequence[socket.socket], data: bytes, seconds: float = 30.0) -> int:
    """Send the bytes on all connections at once; gives how many took them all in time."""
    left = dict.fromkeys(opened, 0)
    until = time.monotonic() + seconds
    with selectors.DefaultSelector() as ready:
        for one in opened:
            one.setblocking(False)
            ready.register(one, selectors.EVENT_WRITE)
        while left and time.monotonic() < until:
            for key, _ in ready.select(0.5):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                try:
                    left[one] += one.send(data[left[one] : left[one] + 65536])
                    is_over = left[one] == len(data)
                except BlockingIOError:
                    continue
                except OSError:  # the server hung up
                    is_over = True
                if is_over:
                    ready.unregister(one)
                    del left[one]
    return len(opened) - len(left)


def statuses(opened: Sequence[socket.socket], seconds: float = 60.0) -> list[int]:
    """The status of the first answer on each connection; 0 where none came."""
    found: dict[socket.socket, int] = dict.fromkeys(opened, 0)
    until = time.monotonic() + seconds
    with selectors.DefaultSelector() as ready:
        for one in opened:
            one.setblocking(False)
            ready.register(one, selectors.EVENT_READ)
        while ready.get_map() and time.monotonic() < until:
            for key, _ in ready.select(0.5):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                try:
                    head = one.recv(64)
                except OSError:
                    head = b""
                if head.startswith(b"HTTP/1.1 "):
                    found[one] = int(head[9:12])
                ready.unregister(one)
    return list(found.values())


def is_closed(one: socket.socket, seconds: float) -> bool:
    """Whether the server closes the connection in time; what it sends is thrown away."""
    until = time.monotonic() + seconds
    one.settimeout(0.2)
    while time.monotonic() < until:
        try:
            if not one.recv(65536):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def warmed(server: PodiumServer) -> PodiumServer:
    """A server that has answered requests: with its first ones a fork copies 20 MB to write to."""
    with server.client() as client:
        for path in ("/", "/readyz", "/v1/experiments"):
            client.get(path)
    return server


def resident(server: PodiumServer) -> int:
    """The memory of the server's process, without the pages of files that it has mapped."""
    found = psutil.Process(server.process.pid).memory_info()
    size: int = found.rss - found.shared
    return size


class Watch:
    """Looks at a server from beside, while it is attacked: its memory, and its answers."""

    def __init__(self, server: PodiumServer) -> None:
        self._server = server
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._ask, self._weigh)]
        self.before = resident(server)
        self.peak = self.before
        self.slowest = 0.0
        self.failed: list[str] = []

    @property
    def grown(self) -> float:
        """Megabytes over the memory before the attack, at most."""
        return (self.peak - self.before) / MEGABYTE

    def __enter__(self) -> Watch:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for each in self._threads:
            each.join()
        sys.stdout.write(f"grew {self.grown:.0f} MB, slowest answer {self.slowest:.2f} s\n")

    def _weigh(self) -> None:
        while not self._ended.wait(0.02):
            self.peak = max(self.peak, resident(self._server))

    def _ask(self) -> None:
        """A new connection for each question: somebody who comes now."""
        while not self._ended.wait(0.1):
            started = time.monotonic()
            try:
                httpx.get(
                    f"{self._server.url}/healthz",
                    trust_env=False, timeout=60, verify=NO_CERTIFICATES,
                )  # fmt: skip
            except httpx.HTTPError as error:
                self.failed.append(repr(error))
            self.slowest = max(self.slowest, time.monotonic() - started)
