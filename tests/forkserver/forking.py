"""What both processes that fork for others do: read a request, fork an orphan, seed anew."""

from __future__ import annotations

import array
import ctypes
import json
import mmap
import os
import random
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

MAX_REQUEST = 1 << 20  # bytes; an environment and arguments have some thousands
MAX_FDS = 16
CLONE_VM, CLONE_VFORK = 0x100, 0x4000  # clone(2)
# The process between shares the memory of this one, which waits for it as in vfork(2): to copy the
# memory for it too makes each fork cost twice as much. For that it needs a stack of its own.
STACK_BYTES = 64 << 20  # as much as is used is taken
# From 3.14 on Python takes a stack that it did not make for one that is used up.
HAS_STACK_BOUNDS = sys.version_info >= (3, 14)
PROCESS = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
# PyDLL: the process between runs Python with the lock of the interpreter that this one holds.
clone = ctypes.PyDLL(None, use_errno=True).clone
clone.argtypes = [PROCESS, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]


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


def serve_requests(
    channel: socket.socket, run: Callable[[dict[str, Any], list[int]], NoReturn]
) -> None:
    """Fork a process for each request, which runs it, and tell the asker the new process's id.

    Returns once the asker has closed its end. `run` never returns.
    """
    while True:
        request, descriptors = receive(channel)
        if not request:
            return

        def begin(request: dict[str, Any] = request, given: list[int] = descriptors) -> NoReturn:
            channel.close()
            run(request, given)

        pid = fork_orphan(begin)
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(str(pid).encode())


def fork_orphan(run: Callable[[], NoReturn]) -> int:
    """Fork a process that runs `run`, which never returns; return the id of the process.

    A process between this one and the new one forks and ends at once, so that the kernel gives the
    new process to the asker, which has made itself the reaper of orphans until it has its answer.
    """
    if HAS_STACK_BOUNDS:
        return _fork_twice(run)
    forked: list[int] = []

    def between(_: object) -> int:
        forked.append(_fork(run))
        return 0

    function = PROCESS(between)
    # Private memory: the new process goes on with this stack, in a copy of its own.
    stack = mmap.mmap(-1, STACK_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = ctypes.c_char.from_buffer(stack)
    flags = CLONE_VM | CLONE_VFORK | signal.SIGCHLD
    pid = clone(function, ctypes.addressof(start) + STACK_BYTES, flags, None)
    assert pid > 0, os.strerror(ctypes.get_errno())
    os.waitpid(pid, 0)
    del start  # which would keep the memory from being given back
    stack.close()
    return forked[0]


def _fork_twice(run: Callable[[], NoReturn]) -> int:
    """What `fork_orphan` does, without a stack of its own for the process between."""
    reading, writing = os.pipe()

    def between() -> NoReturn:
        os.close(reading)

        def begin() -> NoReturn:
            os.close(writing)
            run()

        os.write(writing, str(_fork(begin)).encode())
        os._exit(0)

    pid = _fork(between)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        forked = int(answer.read())
    os.waitpid(pid, 0)
    return forked


def _fork(run: Callable[[], NoReturn]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            run()
        except BaseException:
            traceback.print_exc()
        os._exit(70)  # EX_SOFTWARE
    return pid


def reseed() -> None:
    """Give the process random numbers of its own."""
    import numpy as np

    random.seed()
    np.random.seed()
