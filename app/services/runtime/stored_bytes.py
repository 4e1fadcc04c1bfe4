"""The total size of the submissions of a run, which is limited so that no run fills the disk."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import LRUCache

from app.errors import QuotaExceeded
from app.services.runtime.run_limits import DAY
from app.storage.database.database import Database
from app.storage.queries import submission_counts
from app.units import MEGABYTE

KNOWN_RUNS = 4096
VALID_SECONDS = 60.0  # then the sum is read again, with submissions from other servers


@dataclass(slots=True)
class _Sum:
    total: int
    read_at: float


class StoredBytes:
    """The sums of this process's runs. Several servers may exceed the limit for a minute."""

    def __init__(self, limit_mb: int) -> None:
        self._limit_mb = limit_mb
        self._lock = threading.Lock()
        self._sums: LRUCache[str, _Sum] = LRUCache(KNOWN_RUNS)
        self._incoming: Counter[str] = Counter()

    def add(self, database: Database, run_id: str, size: int) -> Callable[[], None]:
        """Count a submission that will be stored. Returns a function to call if it is not.

        Raises:
            QuotaExceeded: the run would have more bytes than PODIUM_RUN_STORED_MB.
        """
        known = self._sum(database, run_id)
        with self._lock:
            self._require(run_id, known.total + size)
            known.total += size

        def give_back() -> None:
            with self._lock:
                known.total -= size  # a sum that was read meanwhile does not include them

        return give_back

    def require(self, database: Database, run_id: str, size: int) -> None:
        """Check that a submission of this size could be stored.

        Raises:
            QuotaExceeded: as `add`.
        """
        self._require(run_id, self._sum(database, run_id).total + size)

    def begin(self, database: Database, run_id: str) -> Incoming:
        """Begin to count a file whose bytes arrive in pieces; the caller ends it."""
        self._sum(database, run_id)
        return Incoming(self, run_id)

    def count_incoming(self, run_id: str, size: int) -> None:
        """Count bytes of files that arrive; `size` is negative when a file is complete or refused.

        Raises:
            QuotaExceeded: with them the run would have more than PODIUM_RUN_STORED_MB.
        """
        with self._lock:
            self._incoming[run_id] += size
            incoming, known = self._incoming[run_id], self._sums.get(run_id)
            if not incoming:
                del self._incoming[run_id]
        if size > 0:
            self._require(run_id, incoming + (known.total if known else 0))

    def _sum(self, database: Database, run_id: str) -> _Sum:
        with self._lock:
            known = self._sums.get(run_id)
        if known is not None and time.monotonic() - known.read_at < VALID_SECONDS:
            return known
        with database.read() as session:
            known = _Sum(submission_counts.stored_bytes(session, run_id), time.monotonic())
        with self._lock:
            self._sums[run_id] = known
        return known

    def _require(self, run_id: str, total: int) -> None:
        limit = self._limit_mb * MEGABYTE
        if total > limit:
            raise QuotaExceeded(
                f"The submissions of run {run_id} would have {total:,} bytes together, and a run "
                f"may store {limit:,} (PODIUM_RUN_STORED_MB). Nothing was stored.",
                retry_after=int(DAY.total_seconds()),
            )


class Incoming:
    """The bytes of one file that arrives."""

    def __init__(self, stored: StoredBytes, run_id: str) -> None:
        self._stored = stored
        self._run_id = run_id
        self._bytes = 0

    def add(self, size: int) -> None:
        """Count bytes that arrived.

        Raises:
            QuotaExceeded: as `StoredBytes.count_incoming`.
        """
        self._bytes += size
        self._stored.count_incoming(self._run_id, size)

    def end(self) -> None:
        """Stop counting them, because they are stored or discarded."""
        self._stored.count_incoming(self._run_id, -self._bytes)
        self._bytes = 0
