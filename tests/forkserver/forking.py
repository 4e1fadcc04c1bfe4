"""What both processes that fork for others do: read a request, fork an orphan, seed anew."""

from __future__ import annotations

import array
import json
import os
import random
import socket
from typing import Any

MAX_REQUEST = 1 << 20  # bytes; an environment and arguments have some thousands
MAX_FDS = 16


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next request with its descriptors; an empty one if the asker has closed its end."""
    found = array.array("i")
    room = socket.CMSG_LEN(MAX_FDS * found.itemsize)
    data, ancillary, flags, _ = channel.recvmsg(MAX_REQUEST, room)
    assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC), "the request is too long"
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(content)
    return (json.loads(data) if data else {}), found.tolist()


def fork_for_requests(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Fork for each request, and tell the asker the id of the new process.

    Returns the request with its descriptors in the new process; None in this one, once the asker
    has closed its end.
    """
    while True:
        request, descriptors = receive(channel)
        if not request:
            return None
        pid = fork_orphan()
        if pid is None:
            return request, descriptors
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(str(pid).encode())


def fork_orphan() -> int | None:
    """Fork a new process and return its id; return None in that process.

    A process between the two forks ends at once, so that the kernel gives the new process to the
    asker, which has made itself the reaper of orphans until it has its answer.
    """
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        child = os.fork()
        if child:
            os.write(writing, str(child).encode())
            os._exit(0)
        os.close(reading)
        os.close(writing)
        return None
    os.close(writing)
    os.waitpid(between, 0)
    pid = int(os.read(reading, 32))
    os.close(reading)
    return pid


def reseed() -> None:
    """Give the process random numbers of its own."""
    import numpy as np

    random.seed()
    np.random.seed()
