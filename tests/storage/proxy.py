"""A proxy for PostgreSQL's socket that can break a connection at its COMMIT."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from pathlib import Path
from typing import Literal

# before: the server never hears of the COMMIT; after: its answer is lost;
# late: the client's side breaks at once, and the server hears of the COMMIT a little later.
Cut = Literal["before", "after", "late"]
LATE_SECONDS = 0.7
SOCKET = ".s.PGSQL.5432"


class Proxy:
    """Listens in `directory` and forwards to the server whose socket is in `server`."""

    def __init__(self, directory: Path, server: Path) -> None:
        self.cut: Cut | None = None
        self.cuts = 0
        self.refuses = False  # new connections
        self.directory = directory
        self._server = str(server / SOCKET)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(directory / SOCKET))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        """Stop listening; connections end with their clients."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self._threads.append(threading.Thread(target=self._serve, args=(client, server)))
            self._threads[-1].start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        back = threading.Thread(target=_copy, args=(server, client))
        with client, server:
            back.start()
            while data := _receive(client):
                if self.cut and b"COMMIT" in data:
                    self._break(client, server, data)
                    break
                server.sendall(data)
            _shut(server)
            back.join(10)

    def _break(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        how, self.cut = self.cut, None
        self.cuts += 1
        _shut(client)
        if how == "before":
            return
        if how == "late":
            time.sleep(LATE_SECONDS)
        server.sendall(data)
        time.sleep(0.2)  # the server commits, and answers a client that is gone


def _copy(source: socket.socket, target: socket.socket) -> None:
    while data := _receive(source):
        with contextlib.suppress(OSError):
            target.sendall(data)
    _shut(target)


def _receive(source: socket.socket) -> bytes:
    try:
        return source.recv(65536)
    except OSError:
        return b""


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
