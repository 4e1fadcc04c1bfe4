"""A thread beside the graders that computes the signals of what was graded."""

from __future__ import annotations

import logging
import threading

from app.services.reviews.compute import Reviewer
from app.services.reviews.versions import Stopped
from app.services.runtime.context import Context

SECONDS = 0.5  # between looks for newly graded submissions
log = logging.getLogger("podium.reviews")


def run_reviewer(context: Context, stopping: threading.Event) -> None:
    """Compute signals until `stopping` is set. Several processes may: a signal is stored once."""
    reviewer = Reviewer(context, stopping)
    while not stopping.wait(SECONDS):
        try:
            while not stopping.is_set() and reviewer.turn():
                pass
        except Stopped:
            return
        except Exception:
            # The submissions stay without signals, and the next turn tries again.
            log.exception("cannot compute signals")
