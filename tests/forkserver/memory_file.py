"""Memory of a process as private pages of a file, so that a fork need not copy it.

A fork copies an entry for each page of anonymous memory, 60,000 in the fork server, and the end of
the new process removes them again. It copies none for pages of a file that the process has mapped
and not written to: the new process reads them from the file, which is memory too (memfd_create(2)).
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from pathlib import Path

LEAST = 1 << 18  # bytes; smaller pieces of memory are not worth a mapping of their own
MAP_FIXED = 0x10  # mmap(2); the module mmap has no name for it
CONTEXT, STACK = 1 << 14, 1 << 15  # bytes; ucontext_t has 968 on x86-64, 4,560 on 64-bit ARM
LINK, STACK_START, STACK_SIZE = 1, 2, 4  # fields of ucontext_t, in words


def move_to_file() -> int:
    """Move what this process has allocated to a file in memory; return the number of bytes.

    Only the calling thread may run. Nothing changes for those who use the memory.
    """
    places = allocated()
    size = sum(end - start for start, end in places)
    file = os.memfd_create("podium-tests")
    try:
        os.ftruncate(file, size)
        with mmap.mmap(file, size) as copy:
            begin = ctypes.c_char.from_buffer(copy)
            libc = ctypes.PyDLL(None)
            steps = []
            offset = 0
            for start, end in places:
                length = end - start
                steps.append((libc.memmove, (ctypes.addressof(begin) + offset, start, length)))
                flags = mmap.MAP_PRIVATE | MAP_FIXED
                rights = mmap.PROT_READ | mmap.PROT_WRITE
                steps.append((libc.mmap, (start, length, rights, flags, file, offset)))
                offset += length
            call_all(steps)
            del begin  # which would keep `copy` open
    finally:
        os.close(file)
    left = set(places) & set(allocated())
    assert not left, f"{len(left)} pieces of memory were not moved to the file"
    return size


def allocated() -> list[tuple[int, int]]:
    """Start and end of each piece of memory that this process has allocated and mostly uses."""
    found: list[tuple[int, int]] = []
    start = end = 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if "-" in first and not first.endswith(":"):
            named = rest[4:] not in ([], ["[heap]"])
            low, high = (int(address, 16) for address in first.split("-"))
            start, end = (0, 0) if named or rest[0] != "rw-p" else (low, high)
        # Stacks of threads, and what is set aside for later, are mostly unused.
        elif first == "Anonymous:" and 2 * 1024 * int(rest[0]) >= end - start >= LEAST:
            found.append((start, end))
    return found


def call_all(steps: Sequence[tuple[object, tuple[int, ...]]]) -> None:
    """Call functions of the C library one after the other, and nothing else between them.

    Between two calls of ctypes Python would write to the memory that is being moved, and what it
    wrote would be lost. makecontext(3) makes each call begin where the one before it returns.
    """
    libc = ctypes.PyDLL(None)
    libc.makecontext.restype = None
    room = CONTEXT + STACK
    with mmap.mmap(-1, (len(steps) + 1) * room, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        begin = ctypes.c_char.from_buffer(memory)
        contexts = [ctypes.addressof(begin) + room * number for number in range(len(steps) + 1)]
        for number, (function, arguments) in enumerate(steps):
            context = ctypes.c_void_p(contexts[number])
            assert libc.getcontext(context) == 0
            fields = (ctypes.c_size_t * (STACK_SIZE + 1)).from_address(contexts[number])
            fields[LINK] = contexts[number + 1]
            fields[STACK_START] = contexts[number] + CONTEXT
            fields[STACK_SIZE] = STACK
            entry = ctypes.cast(function, ctypes.c_void_p)  # type: ignore[arg-type]
            words = [ctypes.c_long(argument) for argument in arguments]
            libc.makecontext(context, entry, len(words), *words)
        done = libc.swapcontext(ctypes.c_void_p(contexts[-1]), ctypes.c_void_p(contexts[0]))
        assert done == 0
        del begin
