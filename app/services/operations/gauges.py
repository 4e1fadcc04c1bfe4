"""Prometheus gauges of the queue and the graders: set at each scrape."""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from math import nan
from pathlib import Path

from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from app.domain import states
from app.domain.states import SubmissionState
from app.errors import PodiumError
from app.logs import log_outage
from app.prometheus_metrics import (
    CONSUMERS,
    DATABASE_UP,
    GRADER_BYTES,
    OLDEST_QUEUED_SECONDS,
    OPEN,
    QUEUED,
)
from app.queue import jobs
from app.queue.sizes import MEDIUM_BELOW, QUEUES, SMALL_BELOW
from app.services.runtime.context import Context
from app.storage.queries import submission_counts

log = logging.getLogger("podium.storage")
Counts = dict[tuple[SubmissionState, int], int]
BOUNDS = (SMALL_BELOW, MEDIUM_BELOW)  # sizes in bytes between the queues, ascending


def measure(context: Context) -> None:
    """Set all gauges.

    The gauges of the queue describe the database: every server shows the same values. Their query
    uses the index over states, so its cost depends on the open submissions only. While the database
    is away, or cannot be read, their values are NaN, and the gauges of this process are still set.
    """
    try:
        counts, waited, alive = read_queue(context)
    except (PodiumError, DatabaseError) as error:
        if isinstance(error, DatabaseError):  # an outage was logged where it occurred
            log_outage(log, "the database cannot be read", str(error.orig))
        DATABASE_UP.set(0)
        QUEUED.set(nan)
        OLDEST_QUEUED_SECONDS.set(nan)
        CONSUMERS.set(nan)
        OPEN.clear()
    else:
        DATABASE_UP.set(1)
        CONSUMERS.set(alive)
        for state in states.OPEN:
            for bucket, size in enumerate(QUEUES):
                OPEN.labels(state.value, size).set(counts.get((state, bucket), 0))
        QUEUED.set(sum(n for (state, _), n in counts.items() if state is SubmissionState.QUEUED))
        OLDEST_QUEUED_SECONDS.set(waited or 0.0)
    measure_graders(context)


def read_queue(context: Context) -> tuple[Counts, float | None, int]:
    """The open submissions, the waiting time of the oldest queued one, and the consumers.

    The counts are by state and index of the size in `QUEUES`. The time is None if nothing is
    queued.
    """
    with context.database.read() as session:
        oldest = submission_counts.oldest_queued(session)
        counts = submission_counts.count_open(session, BOUNDS)
        alive = consumers(context, session)
    waited = None if oldest is None else (datetime.now(UTC) - oldest).total_seconds()
    return counts, None if waited is None else max(0.0, waited), alive


def measure_graders(context: Context) -> None:
    """Set the gauges of this process's graders."""
    GRADER_BYTES.clear()
    for pid in context.graders.pids():
        resident = resident_bytes(pid)
        if resident is not None:
            GRADER_BYTES.labels(pid).set(resident)


def count_consumers(context: Context) -> int:
    """The number of live consumers of the queue at this moment."""
    with context.database.read() as session:
        return consumers(context, session)


def consumers(context: Context, session: Session) -> int:
    """The number of live consumers of the queue; 0 if servers grade without workers."""
    if not context.settings.queues:
        return 0
    return jobs.count_consumers(session, context.settings.heartbeat_seconds)


def resident_bytes(pid: int) -> int | None:
    """The memory of a process; None if it has ended, or the system does not report it."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:  # the process has ended, or this is not Linux
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
