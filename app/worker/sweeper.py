"""A thread of the server that removes stored files that no row names, now and then."""

from __future__ import annotations

import logging
import threading

from app.services.operations.collect_garbage import sweep
from app.services.runtime.context import Context

HOUR = 3600.0
log = logging.getLogger("podium.gc")


def run_sweeper(context: Context, stopping: threading.Event) -> None:
    """Sweep every PODIUM_GC_HOURS until `stopping` is set. Returns at once if that is 0."""
    seconds = context.settings.gc_hours * HOUR
    while seconds and not stopping.wait(seconds):
        try:
            removed = sweep(context)
        except Exception:
            # Nothing depends on it: the server goes on, and the next sweep tries again.
            log.exception("cannot remove files that no row names")
        else:
            log.info(
                "removed files that no row names",
                extra={"files": len(removed), "bytes": sum(one.bytes for one in removed)},
            )
