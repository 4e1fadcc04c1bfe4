"""`podium proxy`: beside an agent, so that its clients need no key and no address."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from app.errors import Conflict, Invalid
from app.kaggle_api.forwarder import Upstream, serve, upstream_of

KAGGLES_PORT = ["127.0.0.1:80"]
Listen = Annotated[list[str], typer.Option(help="HOST:PORT; may be given several times")]


def proxy(
    to: Annotated[str, typer.Option(help="the Podium, as http://podium:7777")],
    key_file: Annotated[
        Path, typer.Option(help="a file with the run's key", exists=True, dir_okay=False)
    ],
    listen: Listen = KAGGLES_PORT,
) -> None:
    """Forward to one Podium with a run's key: Kaggle's client (port 80), MLE-bench's (5000)."""
    key = key_file.read_text(encoding="utf-8").strip()
    if not key.isascii() or not key.isprintable() or not key or " " in key:
        raise Invalid(f"{key_file} does not hold one key.")
    try:
        upstream = upstream_of(to, key)
    except ValueError as error:
        raise Invalid(str(error)) from None
    asyncio.run(_run(upstream, [_address(one) for one in listen]))


async def _run(upstream: Upstream, addresses: list[tuple[str, int]]) -> None:
    try:
        servers = await serve(upstream, addresses)
    except OSError as error:
        raise Conflict(f"Cannot listen: {error.strerror or error}.") from None
    for server in servers:
        for listener in server.sockets:
            host, port = listener.getsockname()[:2]
            typer.echo(f"forwarding http://{host}:{port} to {upstream.name}")
    ended = asyncio.Event()
    for end in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(end, ended.set)
    await ended.wait()
    for server in servers:
        server.close()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise Invalid(f"--listen {text!r} is not HOST:PORT, as 127.0.0.1:80.")
    return host.strip("[]"), int(port)
