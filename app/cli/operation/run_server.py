"""Run the HTTP server until it is told to stop."""

from __future__ import annotations

import contextlib
import errno
import resource
import signal
import socket
from collections.abc import Callable
from types import FrameType

import typer
import uvicorn

from app.api.http.connections.connection import connection_class
from app.api.http.connections.limit import ConnectionBounds, ConnectionLimit
from app.api.http.request_log import request_id
from app.cli.operation.hang_up import end_at_hang_up
from app.cli.operation.start_errors import StartErrors
from app.cli.output import print_line
from app.errors import CannotStart
from app.logs import configure_logs
from app.main import create_app
from app.read_settings import make_data_directory, read_settings, warn_of_open_directory
from app.services.operations import start_checks
from app.services.operations.unfinished_restore import refuse_unfinished_restore
from app.services.runtime.blob_store import require_store
from app.services.runtime.context import require_postgres_of_queue
from app.settings import Settings
from app.storage.database.wait_for_database import upgrade_when_reachable, wait_until_reachable
from app.units import host_and_port

BACKLOG = 2048
# Connections that are accepted in one pass of the event loop, in which one request of each sender
# begins. libuv accepts one at each listening socket. If there were only one, a new client would
# wait until a request was served for each connection before it.
ACCEPTED = 4
UNSENT_BYTES = 128 * 1024  # what the kernel keeps for one connection beyond what is on its way
MAX_FILES = 65_536  # more are useless, and some libraries loop over all possible descriptors
FILES_BESIDE_CONNECTIONS = 512  # databases, blobs, graders, uploads
DATABASE_SECONDS = 30.0  # to wait for a database that starts at the same time


def run_server(host: str | None, port: int | None) -> None:
    """Serve on this address; None: the one that the settings name.

    Raises:
        CannotStart: the port is in use, or the database or the store is not ours.
    """
    settings = read_settings()
    changes = {"host": host, "port": port}
    settings = settings.model_copy(update={k: v for k, v in changes.items() if v is not None})
    configure_logs(settings.log_level, request_id.get)
    require_postgres_of_queue(settings)
    listener = _listen(settings.host, settings.port)  # before anything is made
    wait_until_reachable(settings.database_url, DATABASE_SECONDS)
    make_data_directory(settings.data_dir)
    warn_of_open_directory(settings.data_dir)
    require_store(settings)
    bound = listener.getsockname()[1]
    start_checks.refuse_damaged_database(settings)
    upgrade_when_reachable(settings.database_url, DATABASE_SECONDS)
    refuse_unfinished_restore(settings)
    start_checks.refuse_other_store(settings)

    def ready(key: str | None) -> None:
        if key is not None:
            print_line(f"Admin key, shown this once: {key}")
        print_line(f"Podium serves on http://{host_and_port(settings.host, bound)} (API: /docs)")

    app = create_app(settings, on_ready=ready)

    def shutdown() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended already
            app.state.shutdown()

    limit = ConnectionLimit(_bounds(settings))
    app.state.connections = limit  # /readyz reads it
    starting = StartErrors(app)
    config = uvicorn.Config(
        starting,
        interface="asgi3",
        # On httptools: h11 answers 404 to the absolute-form targets of clients behind a proxy.
        http=connection_class(limit),
        ws="none",
        loop="uvloop",
        log_config=None,
        access_log=False,
        server_header=False,
        # A proxy with TLS may have any address, as in docker-compose.yml. A client that sends a
        # wrong scheme changes only its own answers, since Podium reads no client's address from a
        # header.
        forwarded_allow_ips="*",
        lifespan="on",
        timeout_graceful_shutdown=15,
    )
    server = _Server(config, shutdown)
    for end in (signal.SIGTERM, signal.SIGINT):
        # uvicorn shuts down gracefully, then raises the signal again. A stop on request is success,
        # so that signal is ignored.
        signal.signal(end, lambda *_: None)
    end_at_hang_up()
    try:
        server.run(sockets=[listener, *(listener.dup() for _ in range(ACCEPTED - 1))])
    except SystemExit:  # uvicorn's, for a start that failed
        if starting.error is None:
            raise
    if starting.error is not None:
        raise starting.error
    if not server.started:
        raise typer.Exit(1)


class _Server(uvicorn.Server):
    """Ends waiting requests and streams when it has to stop; uvicorn would wait for them."""

    def __init__(self, config: uvicorn.Config, shutdown: Callable[[], None]) -> None:
        super().__init__(config)
        self._shutdown = shutdown

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self.started:
            self._shutdown()


def _bounds(settings: Settings) -> ConnectionBounds:
    most = _max_connections(settings.connections)
    of_address = min(most, settings.connections_per_address or max(1, most // 2))
    return ConnectionBounds(most, of_address, settings.head_seconds, settings.idle_seconds)


def _max_connections(wanted: int) -> int:
    """Raise this process's limit of open files; return how many connections it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        soft = min(hard, MAX_FILES) if hard != resource.RLIM_INFINITY else MAX_FILES
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(16, min(wanted, soft - FILES_BESIDE_CONNECTIONS))


def _listen(host: str, port: int) -> socket.socket:
    """Listen on the port first, so that a port in use is reported at once."""
    if not host:  # for the system, an empty one means all addresses of the machine
        raise CannotStart("The host is empty: expected an address, such as 127.0.0.1 or 0.0.0.0.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (TypeError, UnicodeError):  # of the encoding of the name
        listener.close()
        raise CannotStart(f"Cannot listen on {host!a}: this is no name of a host.") from None
    except OSError as error:
        listener.close()
        of_the_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        advice = "Choose another --port." if of_the_port else "Choose another --host."
        place = host_and_port(host, port)
        raise CannotStart(f"Cannot listen on {place}: {error.strerror}. {advice}") from None
    # Connections inherit it. Without it the kernel takes megabytes for a client that reads nothing.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
    listener.listen(BACKLOG)
    return listener
