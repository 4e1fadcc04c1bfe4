"""Limits of the system that a test puts on its own process, for what must not be lost at them."""

from __future__ import annotations

import contextlib
import resource
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def no_more_threads() -> Iterator[None]:
    """No thread can be started: a stack of so much memory cannot be addressed."""
    threading.stack_size(2**46)
    try:
        yield
    finally:
        threading.stack_size(0)


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No byte can be written to a file beyond this size, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
