"""Framing of messages on a stream: a length, then that many bytes."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable

_SIZE = struct.Struct("<Q")
LARGEST_MESSAGE = 1024 * 1024  # a thousand of the longest violations take about half of it
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

    Afterwards the channel has a timeout of 0: set its timeout before the next call.

    Raises:
        EOFError: the other side is gone.
    """
    channel.settimeout(0.0)
    try:
        waiting = channel.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    if not waiting:
        raise EOFError
    return True


def receive_before(channel: socket.socket, deadline: float, is_alive: Callable[[], bool]) -> bytes:
    """Wait for one message until `deadline` (of `time.monotonic()`).

    Raises:
        TimeoutError: the deadline passed.
        EOFError: the other side ended, or announces a message that is too large. A child of it may
            keep the channel open, so `is_alive` is called too.
    """

    def some(count: int) -> bytes:
        gone = False
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            channel.settimeout(min(left, _ALIVE_CHECK_SECONDS))
            try:
                return channel.recv(count)
            except TimeoutError:
                if gone:
                    raise EOFError from None
                gone = not is_alive()  # then read once more: it may have answered before it died

    return _message(some)


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
