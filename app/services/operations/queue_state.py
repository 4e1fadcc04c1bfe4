"""The queue, the graders and the disk at this moment, for admins."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from app.domain.states import SubmissionState
from app.services.operations.gauges import read_queue
from app.services.runtime.context import Context


@dataclass(frozen=True, slots=True)
class GradingQueueState:
    """Counts of submissions that are not settled, and of the processes that grade them.

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
    counts, waited, alive = read_queue(context)

    def total(state: SubmissionState) -> int:
        return sum(n for (each, _), n in counts.items() if each is state)

    disk = shutil.disk_usage(context.settings.data_dir)
    return GradingQueueState(
        queued=total(SubmissionState.QUEUED),
        grading=total(SubmissionState.GRADING),
        oldest_seconds=waited,
        graders=len(context.graders.pids()),
        consumers=alive,
        disk_free=disk.free,
        disk_total=disk.total,
    )
