"""The queue, the graders and the disk at this moment, for admins."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime

from app.domain.states import SubmissionState
from app.services.operations.gauges import BOUNDS, consumers
from app.services.runtime.context import Context
from app.storage.queries import submission_counts


@dataclass(frozen=True, slots=True)
class GradingQueueState:
    """Counts of submissions that are not settled, and what works at them.

    `oldest_seconds` is how long the oldest queued one has waited; None if none is queued. `graders`
    is the number of this server's processes, `consumers` that of the workers' consumers. The disk
    is that of the data directory, in bytes.
    """

    queued: int
    grading: int
    oldest_seconds: float | None
    graders: int
    consumers: int
    disk_free: int
    disk_total: int


def queue_state(context: Context) -> GradingQueueState:
    """The state of the queue, the graders and the disk. Reads the open submissions only."""
    with context.database.read() as session:
        oldest = submission_counts.oldest_queued(session)
        counts = submission_counts.count_open(session, BOUNDS)
        alive = consumers(context, session)

    def total(state: SubmissionState) -> int:
        return sum(n for (each, _), n in counts.items() if each is state)

    waited = None if oldest is None else (datetime.now(UTC) - oldest).total_seconds()
    disk = shutil.disk_usage(context.settings.data_dir)
    return GradingQueueState(
        queued=total(SubmissionState.QUEUED),
        grading=total(SubmissionState.GRADING),
        oldest_seconds=None if waited is None else max(0.0, waited),
        graders=len(context.graders.pids()),
        consumers=alive,
        disk_free=disk.free,
        disk_total=disk.total,
    )
