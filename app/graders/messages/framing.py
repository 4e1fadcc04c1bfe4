"""Framing of messages on a stream: a length, then that many bytes."""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
import struct
import time
from collections.abc import Callable

_SIZE = struct.Struct("<Q")
LARGEST_MESSAGE = 1024 * 1024  # a thousand violations of the greatest length take about half of it
_ALIVE_CHECK_SECONDS = 0.25  # between checks that the grader is still alive


class TooLargeMessage(EOFError):
    """The announced message is too large; nothing of it was read."""


def send(channel: socket.socket, message: bytes) -> None:
    """Send one message."""
    channel.sendall(_SIZE.pack(len(message)) + message)


def receive(channel: socket.socket) -> bytes:
    """Wait for one message, without a time limit.

    Raises:
        EOFError: the other side closed the channel, or announces a message that is too large.
    """
    return _message(channel.recv)


def write_to_pipe(descriptor: int, message: bytes) -> None:
    """Write one message to a pipe."""
    data = memoryview(_SIZE.pack(len(message)) + message)
    while data:
        data = data[os.write(descriptor, data) :]


def read_from_pipe(descriptor: int, wait: Callable[[], object] = lambda: None) -> bytes:
    """Wait for one message from a pipe. `wait` is called before each read of a part of it.

    Raises:
        EOFError: as `receive`.
    """

    def some(count: int) -> bytes:
        wait()
        return os.read(descriptor, count)

    return _message(some)


def is_anything_waiting(channel: socket.socket) -> bool:
    """Whether unexpected bytes have arrived. They are not read.

    Raises:
        EOFError: the other side is gone.
    """
    try:
        waiting = channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    if not waiting:
        raise EOFError
    return True


def send_before(channel: socket.socket, message: bytes, deadline: float) -> None:
    """Send one message until `deadline` (of `time.monotonic()`).

    Raises:
        TimeoutError: the deadline passed.
        EOFError, OSError: the other side ended.
    """
    data = memoryview(_SIZE.pack(len(message)) + message)
    while True:
        # Most messages fit into the socket's buffer, so send without polling first.
        with contextlib.suppress(BlockingIOError):
            data = data[channel.send(data, socket.MSG_DONTWAIT) :]
        if not data:
            return
        _wait(channel, select.POLLOUT, _left(deadline))


def receive_before(channel: socket.socket, deadline: float, is_alive: Callable[[], bool]) -> bytes:
    """Wait for one message until `deadline` (of `time.monotonic()`).

    Raises:
        TimeoutError: the deadline passed.
        EOFError: the other side ended, or announces a message that is too large. A child of it may
            keep the channel open, so `is_alive` is called too.
    """
    has_come = False  # then the rest of the message has usually arrived too

    def some(count: int) -> bytes:
        nonlocal has_come
        is_gone = False
        while True:
            left = _left(deadline)
            if not (has_come or _wait(channel, select.POLLIN, min(left, _ALIVE_CHECK_SECONDS))):
                if is_gone:
                    raise EOFError
                is_gone = not is_alive()  # then look once more: it may have answered before it died
                continue
            try:
                data = channel.recv(count, socket.MSG_DONTWAIT)
            except BlockingIOError:
                has_come = False
            else:
                has_come = True
                return data

    return _message(some)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _wait(channel: socket.socket, event: int, seconds: float) -> bool:
    """Wait until the channel can be read or written, or is closed. False if it is too late."""
    poll = select.poll()
    try:
        poll.register(channel, event)
    except ValueError:  # another thread has closed our end
        raise EOFError from None
    return bool(poll.poll(math.ceil(1000 * seconds)))


def _message(read: Callable[[int], bytes]) -> bytes:
    (size,) = _SIZE.unpack(_exactly(_SIZE.size, read))
    if size > LARGEST_MESSAGE:
        raise TooLargeMessage
    return _exactly(size, read)


def _exactly(count: int, read: Callable[[int], bytes]) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = read(min(count - len(data), 1 << 18))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
