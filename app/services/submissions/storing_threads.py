"""Threads that store the bytes of submissions, so that small files do not wait for large ones."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from app.thread_pool import ThreadPool

Result = TypeVar("Result")

LARGE_BYTES = 1 << 20
# To store a large file in a slow remote store may take minutes, and a few of them use up its
# bandwidth. So they do not use the threads of the event loop, which are for short work.
_of_small = ThreadPool(16, thread_name_prefix="storing")
_of_large = ThreadPool(8, thread_name_prefix="storing-large")


def store_in_thread(size: int, store: Callable[[], Result]) -> Awaitable[Result]:
    """Run `store`, which stores a file of `size` bytes, in a thread, and await its result."""
    threads = _of_large if size > LARGE_BYTES else _of_small
    run = partial(contextvars.copy_context().run, store)
    return asyncio.get_running_loop().run_in_executor(threads, run)
