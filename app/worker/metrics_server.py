"""Serve a worker's Prometheus metrics on a separate port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import make_wsgi_app

from app.errors import Conflict
from app.services.operations.gauges import measure_graders
from app.services.runtime.context import Context


class PortInUse(Conflict):
    """Another process listens on the port for this worker's metrics."""


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds for a client that sends nothing: the server handles one at a time

    def log_message(self, *_: Any) -> None:
        """Log nothing: a line for every scrape is of no use."""


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
        server = make_server(host, port, answer, handler_class=_Handler)
    except OSError as error:
        raise PortInUse(
            f"Cannot serve metrics on {host}:{port}: {error.strerror}. Choose another "
            "--metrics-port; 0 selects a free port."
        ) from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return f"http://{host}:{server.server_port}/metrics"
