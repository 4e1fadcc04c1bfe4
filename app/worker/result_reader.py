"""A thread of the server that reads the results of experiments before anybody asks for them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable

from app.services.results.inputs.kept_results import read_ahead, result_versions
from app.services.runtime.context import Context

PAUSE_SECONDS = 5.0
SHARE = 0.01  # of a processor, at most, for looking
log = logging.getLogger("podium.results")


class ResultReader:
    """Reads what rests: results that are the same as a moment ago and that it has not read.

    While runs of an experiment are closed one after another, reading it after each would cost more
    than it saves.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: dict[str, Hashable] | None = None
        self._read: dict[str, Hashable] = {}

    def look(self) -> int:
        """Read the results that rest, the first time all; of how many experiments."""
        versions = result_versions(self._context)
        resting = {
            name: version
            for name, version in versions.items()
            if self._read.get(name) != version
            and (self._seen is None or self._seen.get(name) == version)
        }
        self._seen = versions
        if resting:
            read_ahead(self._context, list(resting))
            # What is too much to be kept is not read again and again.
            self._read |= resting
        return len(resting)


def run_result_reader(
    context: Context, stopping: threading.Event, pause: float = PAUSE_SECONDS
) -> None:
    """Look every `pause` seconds until `stopping` is set, more seldom where looking takes long."""
    reader = ResultReader(context)
    while not stopping.is_set():
        began = time.monotonic()
        try:
            count = reader.look()
        except Exception:
            log.exception("cannot read results ahead; the next board will")
            count = 0
        took = time.monotonic() - began
        if count:
            log.info("read results", extra={"experiments": count, "seconds": round(took, 3)})
        stopping.wait(max(pause, took / SHARE) if not count else pause)
