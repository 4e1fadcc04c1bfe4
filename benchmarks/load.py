"""A light client: open connections and requests written by hand, to leave the CPU to others."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.server import Server

_numbers = itertools.count()


@dataclass(frozen=True)
class Answer:
    """The response, and its time."""

    status: int
    seconds: float
    submission: str
    state: str


def send_many(
    server: Server, count: int, clients: int, prefer: str = "", pause: float = 0.0
) -> Sequence[Answer]:
    """Send `count` submissions from `clients` connections, each `pause` seconds after an answer.

    Each client sends to a run of its own, as an agent does.
    """
    return asyncio.run(_send_many(server, count, clients, prefer, pause))


async def _send_many(
    server: Server, count: int, clients: int, prefer: str, pause: float
) -> list[Answer]:
    left = itertools.islice(_numbers, count)
    answers: list[Answer] = []
    runs = itertools.islice(itertools.cycle(server.runs), clients)
    await asyncio.gather(*(_client(server, run, left, answers, prefer, pause) for run in runs))
    return answers


def another(body: bytes, number: int) -> bytes:
    """The file with other predictions of the same length: no two files sent are the same bytes."""
    lines = body.split(b"\n")
    for bit in range(16):
        if number >> bit & 1:
            # Rows 2n and 2n+1 hold True and False in some order: swap them.
            first, second = lines[2 * bit + 1], lines[2 * bit + 2]
            lines[2 * bit + 1] = first[:8] + second[8:]
            lines[2 * bit + 2] = second[:8] + first[8:]
    return b"\n".join(lines)


async def _client(
    server: Server,
    run: tuple[str, str],
    left: Iterator[int],
    answers: list[Answer],
    prefer: str,
    pause: float,
) -> None:
    run_id, key = run
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = (
        f"POST /v1/runs/{run_id}/submissions HTTP/1.1\r\nHost: podium\r\n"
        f"Authorization: Bearer {key}\r\nContent-Type: text/csv\r\n"
        f"{prefer}Content-Length: {len(server.body)}\r\n\r\n"
    ).encode()
    for number in left:
        request = head + another(server.body, number)
        started = time.perf_counter()
        writer.write(request)
        status, body = await _response(reader)
        seconds = time.perf_counter() - started
        document = json.loads(body)
        answers.append(
            Answer(status, seconds, document.get("id", ""), str(document.get("state", "")))
        )
        if pause:
            await asyncio.sleep(pause)
    writer.close()
    await writer.wait_closed()


async def _response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    return int(head[9:12]), await reader.readexactly(length)
