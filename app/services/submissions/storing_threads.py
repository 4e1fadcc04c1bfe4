"""Threads that store the bytes of submissions: large files keep no small ones waiting."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from app.thread_pool import ThreadPool

Result = TypeVar("Result")

LARGE_BYTES = 1 << 20
# A large file may take minutes to a slow remote store, and few of them use up its bandwidth. The
# threads of the event loop are left to what takes a moment.
_of_small = ThreadPool(16, thread_name_prefix="storing")
_of_large = ThreadPool(8, thread_name_prefix="storing-large")


def store_in_thread(size: int, store: Callable[[], Result]) -> Awaitable[Result]:
    """Run `store`, which stores a file of `size` bytes, in a thread, and await its result."""
    threads = _of_large if size > LARGE_BYTES else _of_small
    run = partial(contextvars.copy_context().run, store)
    return asyncio.get_running_loop().run_in_executor(threads, run)
