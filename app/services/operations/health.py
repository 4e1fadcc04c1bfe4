"""Check whether each part of this Podium works at the moment."""

from __future__ import annotations

import logging
import resource
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DatabaseError

from app.domain.wording import counted
from app.errors import PodiumError
from app.services.operations.gauges import consumers
from app.services.operations.storage_probe import storage_state
from app.services.runtime.context import Context
from app.storage.database import revisions
from app.storage.database.errors import is_full
from app.storage.queries import submission_counts

log = logging.getLogger("podium.storage")
LISTENER_LOST = (
    "the connection for PostgreSQL's notifications of settled submissions is lost; Podium is "
    "reconnecting, and until then waiting clients get their answers late"
)
# SQLite reports a page that the disk cannot read as a damaged one, though the disk may recover.
DAMAGED = (
    "a query met a damaged page, or one that the disk cannot read: look at the disk, and start "
    "this server anew; if it or `podium verify` still finds damage, restore a backup (`podium "
    "restore`) into a new PODIUM_DATA_DIR"
)
MISSES = (
    "a query failed, as where a table or column is missing; the log says which. If one is, restore "
    "a backup (`podium restore`) into a new PODIUM_DATA_DIR"
)
OLDER = "the schema is older than this: run `podium db upgrade`"
# Rounded, because agents and strangers read this too, and must not see when a grading ends.
ROUNDED_TO = 256  # open files: gradings and requests have some dozens
CONNECTIONS_ROUNDED_TO = 64
GRACE = 30.0  # seconds in which a grader should be replaced; it takes less than one
NO_WORKER = "none is alive: submissions wait until a `podium worker` starts"


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of each part: "ok", or a sentence that describes the problem."""

    database: str
    storage: str
    graders: str
    listener: str
    workers: str
    isolation: dict[str, Any]

    @property
    def is_ready(self) -> bool:
        """Whether every part of this process is "ok". Workers are other processes."""
        return {self.database, self.storage, self.graders, self.listener} == {"ok"}


def readiness(context: Context, reads_addresses: Callable[[], bool]) -> Readiness:
    """Test each part: run a query, write to the disk, check the grader processes.

    Strangers and agents see why the storage does not work, but not its address. Whether the caller
    may see the address is looked up only if the storage does not work.
    """
    return Readiness(
        database=_database(context),
        storage=_storage(context, reads_addresses),
        graders="ok" if context.graders.is_ready(GRACE) else "the grader processes are starting",
        listener="ok" if context.database.is_listening else LISTENER_LOST,
        workers=_workers(context),
        isolation=asdict(context.graders.isolation()),
    )


@dataclass(frozen=True, slots=True)
class ConnectionUse:
    """How much of its limits a server uses."""

    open: int  # rounded up
    most: int
    descriptors: int | None  # open files, rounded up; None where /proc is not mounted
    limit: int  # of descriptors


def connection_use(connections: int, most: int) -> ConnectionUse:
    """The use by this number of connections, with the descriptors of this process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ConnectionUse(
        open=min(_rounded_up(connections, CONNECTIONS_ROUNDED_TO), most),
        most=most,
        descriptors=_descriptors(soft),
        limit=soft,
    )


def _descriptors(limit: int) -> int | None:
    try:
        found = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except FileNotFoundError:
        return None
    return min(_rounded_up(found, ROUNDED_TO), limit)


def _rounded_up(count: int, to: int) -> int:
    return -(-count // to) * to


def _database(context: Context) -> str:
    state = ""
    try:
        context.database.ping()
        state = revisions.state(context.database)
        with context.database.read() as session:
            submission_counts.read_last_rows(session)
    except PodiumError as error:
        return str(error)
    except DatabaseError as error:
        if not context.database.is_damaged and state != "older":
            log.exception("the database cannot be read")
            return "its disk is full" if is_full(error) else MISSES
    if context.database.is_damaged:
        return DAMAGED
    # Migrations only add: a newer schema has all that this version needs.
    return "ok" if state != "older" else OLDER


def _storage(context: Context, reads_addresses: Callable[[], bool]) -> str:
    found = storage_state(context)
    if found.detail == found.for_strangers or reads_addresses():
        return found.detail
    return found.for_strangers


def _workers(context: Context) -> str:
    if not context.settings.queues:
        return "none are needed: this server grades"
    try:
        with context.database.read() as session:
            count = consumers(context, session)
    except (PodiumError, DatabaseError):
        return "not known while the database is away"
    are = "is" if count == 1 else "are"
    return f"{counted(count, 'consumer')} of the queue {are} alive" if count else NO_WORKER
