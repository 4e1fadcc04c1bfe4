"""A thread of the server that issues receipts of closed runs whose grade came after the close."""

from __future__ import annotations

import logging
import threading

from app.services.public_log.run_receipts import issue_late
from app.services.runtime.context import Context

SECONDS = 10.0
log = logging.getLogger("podium.receipts")


def run_late_receipts(context: Context, stopping: threading.Event) -> None:
    """Issue what is due every ten seconds until `stopping` is set."""
    while not stopping.wait(SECONDS):
        try:
            count = issue_late(context)
        except Exception:
            # The runs stay without a receipt, and the next turn tries again.
            log.exception("cannot issue receipts")
        else:
            if count:
                log.info("issued receipts", extra={"receipts": count})
