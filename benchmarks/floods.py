"""How long others wait while somebody sends one request after the other on 900 connections.

`python -m benchmarks floods [DIR]`, where DIR is the checkout of another version. Somebody else
with a key sends a request, and the next one as soon as it was answered. One that has no answer
after ten seconds is counted as lost.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median

import httpx

from benchmarks.server import Server, running
from tests.attacks.floods import AGENTS_FLOODS, FLOODS, Flood, agents_request

CONNECTIONS = 900
SECONDS = 5.0
LONGEST = 10.0


def main(*other: str) -> None:
    for tree in [*(Path(directory).absolute() for directory in other), None]:
        print(f"Floods of {CONNECTIONS} connections, {tree or 'this'}:")
        with running(tree) as server:
            requests = {f"strangers, {kind}": request for kind, request in FLOODS.items()}
            for kind in AGENTS_FLOODS:
                requests[f"an agent, {kind}"] = agents_request(kind, *server.runs[0])
            measure("nobody", server)
            for kind, request in requests.items():
                with flood(server.port, request):
                    measure(kind, server)


@contextlib.contextmanager
def flood(port: int, request: bytes) -> Iterator[None]:
    """A flood by another process, which has begun and been answered."""
    has_begun, ends = multiprocessing.Event(), multiprocessing.Event()
    process = multiprocessing.Process(target=_send, args=(port, request, has_begun, ends))
    process.start()
    try:
        has_begun.wait(60)
        yield
    finally:
        ends.set()
        process.join()


def _send(port: int, request: bytes, has_begun: Event, ends: Event) -> None:
    with Flood(port, request, CONNECTIONS) as sending:
        sending.all_answered.wait(60)
        has_begun.set()
        ends.wait()


def measure(kind: str, server: Server) -> None:
    """Print how long the holder of another key waits for lists of competitions."""
    seconds, lost = [], 0
    until = time.perf_counter() + SECONDS
    with server.client() as client:
        client.timeout = httpx.Timeout(LONGEST)
        while time.perf_counter() < until:
            started = time.perf_counter()
            try:
                client.get("/v1/competitions").raise_for_status()
            except httpx.TransportError:
                lost += 1
            else:
                seconds.append(time.perf_counter() - started)
    middle = f"median {1000 * median(seconds):6.1f} ms" if seconds else "no answer"
    longest = f", longest {1000 * max(seconds):6.1f} ms" if seconds else ""
    print(f"  beside {kind + ':':28} {len(seconds):4} answered, {lost} lost, {middle}{longest}")
