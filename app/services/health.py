"""Whether this Podium can do its work just now, and what its instruments say."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.errors import PodiumError
from app.instruments import GRADER_BYTES, OLDEST_QUEUED_SECONDS, QUEUED
from app.services.context import Context
from app.storage import schema, submissions


@dataclass(frozen=True, slots=True)
class Readiness:
    """What is in order, and what is not: each part "ok" or a sentence."""

    database: str
    storage: str
    graders: str
    isolation: dict[str, Any]

    @property
    def is_ready(self) -> bool:
        """Whether every part is in order."""
        return self.database == self.storage == self.graders == "ok"


def readiness(context: Context) -> Readiness:
    """Try each part for real: a query, a write to disk, the grader processes."""
    return Readiness(
        database=_database(context),
        storage=_storage(context),
        graders="ok" if context.graders.is_ready() else "the grader processes are starting",
        isolation=asdict(context.graders.isolation()),
    )


def measure(context: Context) -> None:
    """Set the gauges that are read rather than counted."""
    with context.database.read() as session:
        oldest = submissions.oldest_queued(session)
        counts = submissions.counts_by_state(session)
    QUEUED.set(counts.get("queued", 0))
    age = 0.0 if oldest is None else (datetime.now(UTC) - oldest).total_seconds()
    OLDEST_QUEUED_SECONDS.set(age)
    GRADER_BYTES.clear()
    for pid in context.graders.pids():
        resident = _resident_bytes(pid)
        if resident is not None:
            GRADER_BYTES.labels(pid).set(resident)


def _database(context: Context) -> str:
    try:
        context.database.ping()
        current = schema.is_current(context.database)
    except PodiumError as error:
        return str(error)
    return "ok" if current else "the schema is not this version's: run `podium db upgrade`"


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
