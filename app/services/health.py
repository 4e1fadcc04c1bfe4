"""Whether this Podium can do its work just now, and what its instruments say."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import Any

from app.domain.states import SubmissionState
from app.errors import PodiumError
from app.instruments import DATABASE_UP, GRADER_BYTES, OLDEST_QUEUED_SECONDS, OPEN, QUEUED
from app.queue.sizes import MEDIUM_BELOW, QUEUES, SMALL_BELOW
from app.services.context import Context
from app.storage import schema, submissions

BOUNDS = (SMALL_BELOW, MEDIUM_BELOW)  # of the queues' sizes, in their order
OPEN_STATES = (SubmissionState.QUEUED, SubmissionState.GRADING)
DEAF = (
    "the connection on which PostgreSQL tells of settled submissions is lost; it is tried again, "
    "and until then clients that wait are answered late"
)


@dataclass(frozen=True, slots=True)
class Readiness:
    """What is in order, and what is not: each part "ok" or a sentence."""

    database: str
    storage: str
    graders: str
    listener: str
    isolation: dict[str, Any]

    @property
    def is_ready(self) -> bool:
        """Whether every part is in order."""
        return {self.database, self.storage, self.graders, self.listener} == {"ok"}


def readiness(context: Context) -> Readiness:
    """Try each part for real: a query, a write to disk, the grader processes."""
    return Readiness(
        database=_database(context),
        storage=_storage(context),
        graders="ok" if context.graders.is_ready() else "the grader processes are starting",
        listener="ok" if context.database.hears else DEAF,
        isolation=asdict(context.graders.isolation()),
    )


def measure(context: Context) -> None:
    """Set the gauges that are read rather than counted.

    Those of the queue are the whole database's: every server says the same. They are read from the
    index over states, and cost what is open, not what was ever sent. While the database is away
    they are not known (NaN).
    """
    try:
        with context.database.read() as session:
            oldest = submissions.oldest_queued(session)
            counts = submissions.count_open(session, BOUNDS)
    except PodiumError:
        DATABASE_UP.set(0)
        QUEUED.set(nan)
        OLDEST_QUEUED_SECONDS.set(nan)
        OPEN.clear()
    else:
        DATABASE_UP.set(1)
        for state in OPEN_STATES:
            for place, size in enumerate(QUEUES):
                OPEN.labels(state.value, size).set(counts.get((state, place), 0))
        QUEUED.set(sum(n for (state, _), n in counts.items() if state is SubmissionState.QUEUED))
        age = 0.0 if oldest is None else (datetime.now(UTC) - oldest).total_seconds()
        OLDEST_QUEUED_SECONDS.set(max(0.0, age))
    GRADER_BYTES.clear()
    for pid in context.graders.pids():
        resident = _resident_bytes(pid)
        if resident is not None:
            GRADER_BYTES.labels(pid).set(resident)


def _database(context: Context) -> str:
    try:
        context.database.ping()
        state = schema.state(context.database)
    except PodiumError as error:
        return str(error)
    # Migrations only add: a newer schema has all that this version needs.
    return "ok" if state != "older" else "the schema is older than this: run `podium db upgrade`"


def _storage(context: Context) -> str:
    probe = context.settings.data_dir / f"probe.{os.getpid()}"
    try:
        probe.write_bytes(b"podium")
        probe.unlink()
        context.blobs.check()
    except OSError as error:
        return f"the data directory cannot be written: {error.strerror}"
    except PodiumError as error:
        return str(error)
    return "ok"


def _resident_bytes(pid: int) -> int | None:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:  # it ended between being listed and being looked at, or this is not Linux
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
