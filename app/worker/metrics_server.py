"""Serve a worker's Prometheus metrics on a separate port.

A client that is slow or sends nothing is disconnected after some seconds, and delays no other.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

from app.errors import Conflict
from app.services.operations.gauges import measure_graders
from app.services.runtime.context import Context
from app.units import host_and_port

CONNECTION_SECONDS = 10.0  # for a request and its answer
MOST_CONNECTIONS = 8  # open at once; a further one replaces the oldest


class PortInUse(Conflict):
    """Another process listens on the port for this worker's metrics."""


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing: a line for every scrape is of no use."""


class _Server(WSGIServer):
    """Serves each connection in its own thread.

    All threads start at once: later the system may have no more threads, and the metrics should
    show that.
    """

    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        host, _ = arguments[0]
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__(*arguments)
        self._lock = threading.Lock()
        self._deadlines: dict[socket.socket, float] = {}  # of the open connections, oldest first
        # More are not accepted: until they end, disconnected ones use open files of the worker.
        self._waiting: queue.Queue[tuple[Any, Any]] = queue.Queue(MOST_CONNECTIONS)
        for number in range(MOST_CONNECTIONS):
            threading.Thread(target=self._serve, name=f"metrics-{number}", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Pass a connection to a thread, and disconnect the oldest one if no thread is free."""
        with self._lock:
            if len(self._deadlines) >= MOST_CONNECTIONS:
                oldest = next(iter(self._deadlines))
                del self._deadlines[oldest]  # so that the next one disconnects another
                _cut_off(oldest)
            self._deadlines[request] = time.monotonic() + CONNECTION_SECONDS
        self._waiting.put((request, client_address))

    def service_actions(self) -> None:
        """Disconnect clients that take too long. Called twice a second."""
        now = time.monotonic()
        with self._lock:
            for request, deadline in self._deadlines.items():
                if deadline < now:
                    _cut_off(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._deadlines.pop(request, None)
        super().shutdown_request(request)

    def _serve(self) -> None:
        while True:
            request, address = self._waiting.get()
            with contextlib.suppress(Exception):  # the client is gone, or was disconnected
                self.finish_request(request, address)
            self.shutdown_request(request)


def _cut_off(request: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the client was faster
        request.shutdown(socket.SHUT_RDWR)


def serve_metrics(context: Context, port: int) -> str:
    """Serve `/metrics` on PODIUM_HOST until the process ends. Returns the URL.

    Port 0 selects a free port.

    Raises:
        PortInUse: the port is in use.
    """
    host = context.settings.host
    metrics_app: Callable[[dict[str, Any], Any], Iterable[bytes]] = make_wsgi_app()

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        measure_graders(context)
        return metrics_app(environ, start_response)

    try:
        server = make_server(host, port, answer, _Server, _Handler)
    except OSError as error:
        raise PortInUse(
            f"Cannot serve metrics on {host}:{port}: {error.strerror}. Choose another "
            "--metrics-port; 0 selects a free port."
        ) from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return f"http://{host_and_port(host, server.server_port)}/metrics"
