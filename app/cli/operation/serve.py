"""`podium serve`: the HTTP server and its graders."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on (PODIUM_HOST)")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="port to listen on (PODIUM_PORT)")
    ] = None,
) -> None:
    """Serve HTTP. In a new data directory, migrate, import the competitions and print a key."""
    from app.cli.operation.first_process import leave_first_process

    leave_first_process()  # before the modules of the server take memory in both
    from app.cli.operation.run_server import run_server

    run_server(host, port)
