"""How fast a body must arrive, and what becomes of bytes that a closed connection has not sent."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

from app.api.http.connections.progress import LEAST_BYTES, Receiving, Writing

BEGAN, PERIOD = 100.0, 30.0
ENOUGH = int(LEAST_BYTES * PERIOD)


def too_slow(*sizes: int) -> list[bool]:
    """Whether a body is too slow after each period, in which it brought so many bytes."""
    receiving = Receiving(BEGAN)
    found = []
    for number, size in enumerate(sizes, start=1):
        receiving.add(size)
        found.append(receiving.is_too_slow(BEGAN + number * PERIOD, PERIOD))
    return found


def test_a_body_brings_a_kilobyte_a_second_from_its_third_period_on() -> None:
    assert too_slow(0, 0, 0) == [False, False, True]
    assert too_slow(0, 0, ENOUGH, ENOUGH, ENOUGH - 1) == [False, False, False, False, True]
    assert too_slow(9 * ENOUGH, 0, ENOUGH - 1) == [False, False, True]


def test_nothing_is_said_within_a_period_and_bytes_count_until_its_end() -> None:
    receiving = Receiving(BEGAN)
    for periods in (1, 2):
        assert not receiving.is_too_slow(BEGAN + periods * PERIOD, PERIOD)
    receiving.add(ENOUGH - 1)
    assert not receiving.is_too_slow(BEGAN + 2.9 * PERIOD, PERIOD)
    receiving.add(1)
    assert not receiving.is_too_slow(BEGAN + 3 * PERIOD, PERIOD)


def test_the_time_in_which_the_server_does_not_read_is_not_counted() -> None:
    receiving = Receiving(BEGAN)
    receiving.add(ENOUGH)
    receiving.pause(BEGAN + 9 * PERIOD)
    assert not receiving.is_too_slow(BEGAN + 9.9 * PERIOD, PERIOD)
    assert receiving.is_too_slow(BEGAN + 10 * PERIOD, PERIOD)


def test_what_a_closed_connection_has_not_sent_is_discarded() -> None:
    """Else the kernel would keep it in memory, and go on sending it to a client that may read."""
    size, closed = 64 * 1024 * 1024, threading.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"a" * size)
        await asyncio.sleep(0.1)  # the kernel's buffers are full
        Writing(writer.transport).abort()
        closed.set()

    def read(port: int) -> tuple[int, bool]:
        count = 0
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            assert closed.wait(10)
            with contextlib.suppress(ConnectionResetError):
                while more := client.recv(1 << 20):
                    count += len(more)
                return count, False
        return count, True

    async def connect() -> tuple[int, bool]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            return await asyncio.to_thread(read, server.sockets[0].getsockname()[1])

    count, was_reset = asyncio.run(connect())
    assert was_reset
    assert count < size
