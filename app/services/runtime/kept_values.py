"""Values computed from results, kept while what they were computed from does not change."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from cachetools import LRUCache

MOST_BYTES = 200_000_000


class KeptValues:
    """Values by key, each with the version of what it was computed from; the oldest go first.

    Whoever computes over all experiments locks `turn`: one at a time, so that several who ask for
    the same compute it once, and a processor is left for submissions.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.turn = threading.Lock()
        self._lock = threading.Lock()
        self._values: LRUCache[Hashable, tuple[Hashable, Any, int]] = LRUCache(
            most_bytes, getsizeof=lambda entry: entry[2]
        )

    def get(self, key: Hashable, version: Hashable) -> Any:
        """The value of this key and version; None if there is none."""
        with self._lock:
            found = self._values.get(key)
        return found[1] if found is not None and found[0] == version else None

    def put(self, key: Hashable, version: Hashable, value: Any, size: int) -> None:
        """Keep a value of about `size` bytes in place of the key's earlier version."""
        with self._lock:
            if size < self._values.maxsize:
                self._values[key] = (version, value, size)
