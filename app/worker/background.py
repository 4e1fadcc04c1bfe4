"""Background threads of a server or worker, which look for work from time to time.

Nothing depends on their errors: the server goes on, and the next turn tries again.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from collections.abc import Hashable

from app.errors import StorageFull, Unavailable
from app.logs import log_outage
from app.services.grading.recovery import take_over
from app.services.operations.collect_garbage import sweep
from app.services.public_log.run_receipts import issue_late
from app.services.results.inputs.kept_results import read_ahead, result_versions
from app.services.reviews.compute import SUBMISSIONS_PER_TURN, Reviewer
from app.services.reviews.versions import Stopped
from app.services.runtime.context import Context
from app.units import HOUR

TAKE_OVER_SECONDS = 30.0  # between checks for dead servers; two checks have to find one
RECEIPT_SECONDS = 10.0  # between checks for closed runs without a receipt
ALL_RECEIPTS_SECONDS = 600.0  # the same for runs that were closed long ago
REVIEW_SECONDS = 2.0  # between checks for newly graded submissions
RESULT_SECONDS = 5.0  # between checks for changed results
MOST_EXPERIMENTS = 1_000_000  # experiments whose results are read at once
RESULT_SHARE = 0.01  # of a processor, at most, for these checks
gc_log = logging.getLogger("podium.gc")
receipt_log = logging.getLogger("podium.receipts")
result_log = logging.getLogger("podium.results")
review_log = logging.getLogger("podium.reviews")
worker_log = logging.getLogger("podium.worker")


def _log(log: logging.Logger, event: str, error: Exception) -> None:
    """Log an outage in a line, from time to time, and an unexpected error with its traceback."""
    if isinstance(error, Unavailable | StorageFull):
        log_outage(log, event, error)
    else:
        log.error(event, exc_info=error)


def run_garbage_collector(context: Context, stopping: threading.Event) -> None:
    """Remove stored files that no row names, every PODIUM_GC_HOURS until `stopping` is set.

    Returns at once if PODIUM_GC_HOURS is 0.
    """
    seconds = context.settings.gc_hours * HOUR
    while seconds and not stopping.wait(seconds):
        try:
            removed = sweep(context)
        except Exception as error:
            _log(gc_log, "cannot remove files that no row names; the next turn tries again", error)
        else:
            gc_log.info(
                "removed files that no row names",
                extra={"files": len(removed), "bytes": sum(one.bytes for one in removed)},
            )


def run_take_over(context: Context, stopping: threading.Event) -> None:
    """Queue again what dead servers of this PostgreSQL were grading, until `stopping` is set."""
    gone: frozenset[str] = frozenset()
    while not stopping.wait(TAKE_OVER_SECONDS):
        try:
            gone = take_over(context, gone)
        except Exception as error:
            gone = frozenset()
            _log(worker_log, "cannot look for servers that are gone; the next turn will", error)


def run_late_receipts(context: Context, stopping: threading.Event) -> None:
    """Issue receipts of closed runs whose grade came after the close, until `stopping` is set."""
    looked_at = -math.inf
    while not stopping.wait(RECEIPT_SECONDS):
        looks_at_all = time.monotonic() - looked_at >= ALL_RECEIPTS_SECONDS
        looked_at = time.monotonic() if looks_at_all else looked_at
        try:
            count = issue_late(context, looks_at_all=looks_at_all)
        except Exception as error:
            _log(receipt_log, "cannot issue receipts; the next turn will", error)
        else:
            if count:
                receipt_log.info("issued receipts", extra={"receipts": count})


def run_reviewer(context: Context, stopping: threading.Event) -> None:
    """Compute signals of what was graded until `stopping` is set.

    Several processes may: a signal is stored once.
    """
    reviewer = Reviewer(context, stopping)
    while not stopping.wait(REVIEW_SECONDS):
        try:
            # After a turn that was not full, wait: a turn for each file would cost more than the
            # file.
            while not stopping.is_set() and reviewer.turn() == SUBMISSIONS_PER_TURN:
                pass
        except Stopped:
            return
        except Exception as error:
            _log(review_log, "cannot compute signals; the next turn will", error)


class ResultReader:
    """Reads results that stopped changing and are not cached, before anybody asks for them.

    While runs of an experiment are closed one after another, reading it after each would cost more
    than it saves.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: dict[str, Hashable] | None = None
        self._read: dict[str, Hashable] = {}
        self._most = MOST_EXPERIMENTS

    def look(self) -> int:
        """Read the results that did not change since the last look; the first look reads all.

        Returns the number of experiments whose results were read.

        Do not re-read results that are too large to cache. If reading fails, the next looks read
        fewer at once, until the experiment that cannot be read is left out and the others are read.
        """
        versions = result_versions(self._context)
        unchanged = {
            name: version
            for name, version in versions.items()
            if self._read.get(name) != version
            and (self._seen is None or self._seen.get(name) == version)
        }
        self._seen = versions
        some = dict(itertools.islice(unchanged.items(), self._most))
        if some:
            self._read_some(some)
        return len(some)

    def _read_some(self, some: dict[str, Hashable]) -> None:
        try:
            read_ahead(self._context, list(some))
        except Exception:
            self._most = max(1, len(some) // 2)
            if len(some) > 1:
                raise
            result_log.exception(
                "cannot read an experiment's results", extra={"experiment": [*some]}
            )
        else:
            self._most = min(MOST_EXPERIMENTS, 2 * self._most)
        self._read |= some


def run_result_reader(
    context: Context, stopping: threading.Event, pause: float = RESULT_SECONDS
) -> None:
    """Look every `pause` seconds until `stopping` is set, less often if it takes long."""
    reader = ResultReader(context)
    while not stopping.is_set():
        began = time.monotonic()
        try:
            count = reader.look()
        except Exception as error:
            _log(result_log, "cannot read results ahead; the next turn or board will", error)
            count = 0
        seconds = time.monotonic() - began
        if count:
            extra = {"experiments": count, "seconds": round(seconds, 3)}
            result_log.info("read results", extra=extra)
        stopping.wait(max(pause, seconds / RESULT_SHARE) if not count else pause)
