"""`podium proxy`: a forwarder for an agent's clients, which then need no key and no address.

It runs in agents' containers and must use little memory: argparse parses its arguments, and it
loads only the standard library.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from app.errors import CannotStart, Invalid
from app.proxy.forward import serve
from app.proxy.request_head import Upstream, upstream_of
from app.units import host_and_port

DEFAULT_ADDRESS = "127.0.0.1:80"


def proxy(arguments: Sequence[str]) -> None:
    """Forward to one Podium with a run's key: Kaggle's client (port 80), MLE-bench's (5000)."""
    given = _parser().parse_args(arguments)
    try:
        upstream = upstream_of(given.to, _key(*given.key_file))
    except ValueError as error:
        raise Invalid(str(error)) from None
    asyncio.run(_run(upstream, [_address(one) for one in given.listen or [DEFAULT_ADDRESS]]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="podium proxy", usage="podium proxy [OPTIONS]", description=proxy.__doc__,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "--to", required=True, metavar="URL", help="address of Podium, as http://podium:7777"
    )
    parser.add_argument(
        "--key-file", required=True, type=_file, metavar="FILE", help="a file with the run's key"
    )
    parser.add_argument(
        "--listen",
        action="append",
        metavar="HOST:PORT",
        help=f"address to listen on; may be repeated; default: {DEFAULT_ADDRESS}",
    )
    return parser


def _file(name: str) -> tuple[str, str]:
    """A file's name and text; one that cannot be read is a wrong argument (status 2)."""
    try:
        if Path(name).is_fifo():  # reading waits until its writer has closed it
            print(f"waiting for the key from the pipe {name}", file=sys.stderr)  # noqa: T201
        return name, Path(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {reason}") from None


def _key(name: str, text: str) -> str:
    if not text.isascii() or not text.isprintable() or not text or " " in text:
        raise Invalid(f"--key-file {name} does not contain exactly one key.")
    return text


async def _run(upstream: Upstream, addresses: list[tuple[str, int]]) -> None:
    servers: list[asyncio.Server] = []
    for host, port in addresses:
        try:
            servers.append(await serve(upstream, host, port))
        except OSError as error:
            # asyncio's message has the address as a tuple; an error about a name has no errno.
            number = error.errno or 0
            why = os.strerror(number) if number > 0 else error.strerror or error
            raise CannotStart(
                f"Cannot listen on {host}:{port}: {why}. Choose another --listen."
            ) from None
    ended = asyncio.Event()
    for end in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(end, ended.set)
    for server in servers:
        for listener in server.sockets:
            host, port = listener.getsockname()[:2]
            place = host_and_port(host, port)
            print(f"forwarding http://{place} to {upstream.name}", flush=True)  # noqa: T201
    await ended.wait()
    for server in servers:
        server.close()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise Invalid(f"--listen {text!r} is not HOST:PORT, as 127.0.0.1:80.")
    return host.strip("[]"), int(port)
