"""Check whether each part of this Podium works at the moment."""

from __future__ import annotations

import logging
import resource
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DatabaseError

from app.domain.wording import counted
from app.errors import PodiumError
from app.services.operations.gauges import consumers
from app.services.runtime.context import Context
from app.storage.database import revisions
from app.storage.database.errors import is_full
from app.storage.database.wait_for_database import has_full_disk
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
DATABASE_FULL = "the disk of the database is full: what writes is refused with 507"
OLDER = "the schema is older than this: run `podium db upgrade`"
# Agents and strangers read this too, and must see neither when a grading ends nor how.
ROUNDED_TO = 256  # open files: gradings and requests have some dozens
CONNECTIONS_ROUNDED_TO = 64
PROBE_SECONDS = 0.25  # between two probes of the storage
PROBING = threading.Lock()
LONGEST_WAIT = 1.0  # seconds for the probe of another request: a store that hangs takes longer
GRACE = 30.0  # seconds in which a grader that a file ended is replaced; it takes less than one
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
        """Whether every part of this process is "ok". Workers are other processes: not counted."""
        return {self.database, self.storage, self.graders, self.listener} == {"ok"}


def readiness(context: Context, reads_addresses: Callable[[], bool]) -> Readiness:
    """Test each part: run a query, write to the disk, check the grader processes.

    Strangers and agents are told why the storage does not work, but not where it is. Whether the
    caller reads that too is asked only if it does not work.
    """
    return Readiness(
        database=_database(context),
        storage=_told(_kept_storage(context), reads_addresses),
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
    """The use by so many connections, with the descriptors of this process."""
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


class StoreProblem(str):
    """Why the store of files does not work, and where it is: for those who run Podium."""

    for_strangers: str

    @classmethod
    def of(cls, error: PodiumError) -> StoreProblem:
        """What an error of the store says."""
        found = cls(error)
        found.for_strangers = error.for_strangers
        return found


def _told(storage: str, reads_addresses: Callable[[], bool]) -> str:
    if isinstance(storage, StoreProblem) and not reads_addresses():
        return storage.for_strangers
    return str(storage)


def _kept_storage(context: Context) -> str:
    """The state of the storage in this quarter of a second.

    A probe writes to the disk and to the store of files, and strangers ask as often as they like,
    also at the same moment: one request probes, and the others wait for what it finds.
    """
    has_turn = PROBING.acquire(timeout=LONGEST_WAIT)
    try:
        found: str | None = context.kept.get("storage", _interval())
        if found is None:
            found = _storage(context)
            context.kept.put("storage", _interval(), found, len(found))
        return found
    finally:
        if has_turn:
            PROBING.release()


def _interval() -> int:
    return int(time.monotonic() / PROBE_SECONDS)


def _storage(context: Context) -> str:
    # A name of its own for each probe: two at a time would remove each other's file.
    probe = context.settings.data_dir / f"probe.{uuid.uuid4().hex}"
    try:
        try:
            probe.write_bytes(b"podium")
        finally:
            probe.unlink(missing_ok=True)
        if _has_full_database(context):
            return DATABASE_FULL
        context.blobs.check()
    except OSError as error:
        return f"the data directory cannot be written: {error.strerror}"
    except PodiumError as error:
        return StoreProblem.of(error)
    return "ok"


def _has_full_database(context: Context) -> bool:
    """Whether SQLite's file is on a full disk, which need not be that of the data directory."""
    file = context.database.url.database
    if not context.database.is_sqlite or not file:
        return False
    directory = Path(file).parent
    is_elsewhere = directory.stat().st_dev != context.settings.data_dir.stat().st_dev
    return is_elsewhere and has_full_disk(directory)
