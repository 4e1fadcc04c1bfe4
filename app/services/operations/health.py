"""Whether this Podium can do its work just now, and what it lacks."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass
from typing import Any

from app.errors import PodiumError
from app.services.operations.gauges import consumers
from app.services.runtime.context import Context
from app.storage.database import migrations

DEAF = (
    "the connection on which PostgreSQL tells of settled submissions is lost; it is tried again, "
    "and until then clients that wait are answered late"
)
IDLE = "none is alive: what is submitted waits until a `podium worker` starts"


@dataclass(frozen=True, slots=True)
class Readiness:
    """What is in order, and what is not: each part "ok" or a sentence."""

    database: str
    storage: str
    graders: str
    listener: str
    workers: str
    isolation: dict[str, Any]

    @property
    def is_ready(self) -> bool:
        """Whether every part of this process is in order; workers are others, and may come."""
        return {self.database, self.storage, self.graders, self.listener} == {"ok"}


def readiness(context: Context) -> Readiness:
    """Try each part for real: a query, a write to disk, the grader processes."""
    return Readiness(
        database=_database(context),
        storage=_storage(context),
        graders="ok" if context.graders.is_ready() else "the grader processes are starting",
        listener="ok" if context.database.hears else DEAF,
        workers=_workers(context),
        isolation=asdict(context.graders.isolation()),
    )


def _database(context: Context) -> str:
    try:
        context.database.ping()
        state = migrations.state(context.database)
    except PodiumError as error:
        return str(error)
    # Migrations only add: a newer schema has all that this version needs.
    return "ok" if state != "older" else "the schema is older than this: run `podium db upgrade`"


def _workers(context: Context) -> str:
    if not context.settings.queues:
        return "none are needed: this server grades"
    try:
        with context.database.read() as session:
            count = consumers(context, session)
    except PodiumError:
        return "not known while the database is away"
    return f"{count} consumers of the queue are alive" if count else IDLE


def _storage(context: Context) -> str:
    # A name of its own for each probe: two at a time would remove each other's file.
    probe = context.settings.data_dir / f"probe.{uuid.uuid4().hex}"
    try:
        probe.write_bytes(b"podium")
        probe.unlink()
        context.blobs.check()
    except OSError as error:
        return f"the data directory cannot be written: {error.strerror}"
    except PodiumError as error:
        return str(error)
    return "ok"
