"""Framing of messages on a stream: a length, then that many bytes."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable

_SIZE = struct.Struct("<Q")
LARGEST_MESSAGE = 1024 * 1024  # a thousand violations in their longest form are about half of it
_GLANCE_SECONDS = 0.25  # how often a waiting server looks whether the grader is still alive


class TooLargeMessage(EOFError):
    """The other side announces more than a message may hold; nothing of it was read."""


def send(channel: socket.socket, message: bytes) -> None:
    """Send one message."""
    channel.sendall(_SIZE.pack(len(message)) + message)


def receive(channel: socket.socket) -> bytes:
    """Wait for one message, however long that takes.

    Raises:
        EOFError: the other side is gone, or announces more than a message may hold.
    """
    return _message(channel.recv)


def write_to_pipe(descriptor: int, message: bytes) -> None:
    """Write one message to a pipe."""
    data = memoryview(_SIZE.pack(len(message)) + message)
    while data:
        data = data[os.write(descriptor, data) :]


def read_from_pipe(descriptor: int) -> bytes:
    """Wait for one message from a pipe.

    Raises:
        EOFError: as `receive`.
    """
    return _message(lambda count: os.read(descriptor, count))


def is_anything_waiting(channel: socket.socket) -> bool:
    """Whether bytes have come that nobody asked for. They stay where they are.

    The channel has no patience afterwards: set its timeout before the next call.

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
        EOFError: the other side is gone, or announces more than a message may hold. A process that
            it started may still hold its end of the channel open, so `is_alive` is asked too.
    """

    def some(count: int) -> bytes:
        gone = False
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            channel.settimeout(min(left, _GLANCE_SECONDS))
            try:
                return channel.recv(count)
            except TimeoutError:
                if gone:
                    raise EOFError from None
                gone = not is_alive()  # and look once more: it may have answered before it died

    return _message(some)


def _message(some: Callable[[int], bytes]) -> bytes:
    (size,) = _SIZE.unpack(_exactly(_SIZE.size, some))
    if size > LARGEST_MESSAGE:
        raise TooLargeMessage
    return _exactly(size, some)


def _exactly(count: int, some: Callable[[int], bytes]) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = some(min(count - len(data), 1 << 18))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
