"""A cache of values that are computed from results."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from cachetools import LRUCache

from app.errors import Unavailable

MOST_BYTES = 200_000_000
MOST_WAITING = 20  # each waits in one of 40 threads, which all requests share
BUSY = "Other results of many experiments are being computed; try again in some seconds."


class KeptValues:
    """Values by key, each with the version of its inputs; the oldest are removed first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._turn = threading.Lock()
        self._places = threading.BoundedSemaphore(MOST_WAITING)
        self._lock = threading.Lock()
        self._values: LRUCache[Hashable, tuple[Hashable, Any, int]] = LRUCache(
            most_bytes, getsizeof=lambda entry: entry[2]
        )

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The turn to compute over all experiments.

        Only one thread has it at a time, so that the same value is computed once for several
        requests, and a processor is left for submissions.

        Raises:
            Unavailable: too many wait.
        """
        if not self._places.acquire(blocking=False):
            raise Unavailable(BUSY)
        try:
            with self._turn:
                yield
        finally:
            self._places.release()

    def get(self, key: Hashable, version: Hashable) -> Any:
        """The value of this key and version; None if there is none."""
        with self._lock:
            found = self._values.get(key)
        return found[1] if found is not None and found[0] == version else None

    def put(self, key: Hashable, version: Hashable, value: Any, size: int) -> None:
        """Cache a value of about `size` bytes in place of the key's earlier version."""
        with self._lock:
            if size < self._values.maxsize:
                self._values[key] = (version, value, size)

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()
