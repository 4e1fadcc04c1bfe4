"""A thread of the server that reads the results of all experiments once, after the start."""

from __future__ import annotations

import logging
import threading
import time

from app.services.results.kept_results import read_ahead
from app.services.runtime.context import Context

log = logging.getLogger("podium.results")


def run_result_reader(context: Context, stopping: threading.Event) -> None:
    """Read them unless `stopping` is set, so that the first board need not."""
    if stopping.is_set():
        return
    began = time.monotonic()
    try:
        count = read_ahead(context)
    except Exception:
        log.exception("cannot read the results ahead; the first board will")
        return
    if count:
        seconds = round(time.monotonic() - began, 3)
        log.info("read results", extra={"experiments": count, "seconds": seconds})
