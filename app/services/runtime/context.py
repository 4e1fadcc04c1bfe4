"""The composition root: build from the settings the objects that all services share."""

from __future__ import annotations

import fcntl
import os
import uuid
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from app.domain.verdict import Verdict
from app.errors import Conflict
from app.graders.messages.results import GraderFault
from app.graders.pool import GraderPool
from app.read_settings import make_data_directory, require_usable
from app.services.runtime.blob_store import open_store
from app.services.runtime.catalogue import Catalogue
from app.services.runtime.environment import this_environment
from app.services.runtime.failure_quota import FailureQuota
from app.services.runtime.insert_submissions import InsertedSubmission, insert_submissions
from app.services.runtime.kept_values import KeptValues
from app.services.runtime.notifications import Notifications
from app.services.runtime.own_metrics import OwnMetrics
from app.services.runtime.reservations import Reservations
from app.services.runtime.scratch import FOLDER, ScratchDirectories, remove_abandoned
from app.services.runtime.stored_bytes import StoredBytes
from app.services.runtime.turns import SharedJobs, Turns
from app.services.runtime.version_files import VersionFiles
from app.settings import Settings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.first_text import keep_first_text
from app.storage.blobs.store import BlobStore
from app.storage.blobs.verify import VerifiedFiles
from app.storage.database.batch import WriteBatch
from app.storage.database.database import Database
from app.storage.database.engine import DatabaseLimits
from app.storage.database.records import SubmissionRecord
from app.storage.queries import ids, submissions
from app.storage.queries.noise.uncertainties import UncertaintyRecord
from app.thread_pool import ThreadPool

# It has the name under which servers of this data directory claim gradings, also after restarts.
INSTANCE = "instance"
VERSIONS = "competitions"
VALIDATORS = 2  # processes, so that a slow check of one run's file does not delay other runs
WAITING_UNCERTAINTIES = 200  # submissions whose noise waits to be estimated
CONCURRENT_FETCHES = 4  # submissions that are fetched from a remote store at the same time


class QueueNeedsPostgres(Conflict):
    """The queue needs PostgreSQL, and the database is SQLite."""


class DataDirectoryInUse(Conflict):
    """Another Podium server uses this data directory."""


@dataclass(frozen=True)
class Context:
    """One process of Podium: its settings, database, blob store, graders and caches."""

    settings: Settings
    database: Database
    blobs: BlobStore
    cache: FileCache
    graders: GraderPool
    catalogue: Catalogue
    instance: str
    inserts: WriteBatch[SubmissionRecord, InsertedSubmission]
    reservations: Reservations
    own_metrics: OwnMetrics
    scratches: ScratchDirectories
    notifications: Notifications = field(default_factory=Notifications)
    kept: KeptValues = field(default_factory=KeptValues)
    verified: VerifiedFiles = field(default_factory=VerifiedFiles)
    validations: Turns[Verdict | GraderFault] = field(default_factory=lambda: Turns(VALIDATORS))
    uncertainties: SharedJobs[UncertaintyRecord] = field(
        default_factory=lambda: SharedJobs(WAITING_UNCERTAINTIES)
    )
    fetching: ThreadPool = field(default_factory=lambda: ThreadPool(CONCURRENT_FETCHES))

    def listen(self) -> None:
        """Begin to deliver notifications, from this process and from others."""
        names = (self.instance, str(this_environment()))
        self.database.listen(self.notifications.notify, self._catch_up, *names)

    def close(self) -> None:
        """Stop the graders, then close the database and the cache."""
        self.fetching.shutdown(wait=False, cancel_futures=True)
        self.graders.close()
        self.fetching.shutdown()
        self.database.close()
        self.cache.close()
        self.scratches.close()

    def _catch_up(self) -> None:
        """Notify of changes that were missed while the database connection was lost.

        A standby that has taken over may lack the last writes, and give their ids again. Cached
        values of such ids are not found any more (see `Database.losses`), so they are dropped.
        """
        self.kept.clear()
        self.own_metrics.forget()
        awaited = self.notifications.awaited()
        with self.database.read() as session:
            settled = submissions.settled_among(session, awaited)
        changed = [topic for topic in awaited if not topic.startswith(f"{submissions.PREFIX}_")]
        self.notifications.notify([*settled, *changed])

    def scratch(self) -> Path:
        """A new empty directory for temporary files, on the same disk as the stored files."""
        return self.scratches.new()


def require_postgres_of_queue(settings: Settings) -> None:
    """Check that a queue has PostgreSQL. Call this before anything is created.

    Raises:
        QueueNeedsPostgres: PODIUM_DISPATCH is queue and the database is SQLite.
    """
    if settings.queues and settings.is_sqlite:
        raise QueueNeedsPostgres(
            "PODIUM_DISPATCH is queue, and the queue is in PostgreSQL: set PODIUM_DATABASE_URL to "
            "postgresql://user:password@host/database, or PODIUM_DISPATCH to embedded."
        )


def open_context(
    settings: Settings, *, grades: bool | None = None, validates: bool | None = None
) -> Context:
    """Open the database, blob store and graders. The caller closes the context.

    Args:
        settings: the settings of this process.
        grades: whether this process grades submissions. By default it does unless submissions go
            through the queue. A process that does not grade still starts a grader to import a
            competition.
        validates: whether to keep a process that checks the form of files. By default every
            process that receives submissions keeps one.

    Raises:
        QueueNeedsPostgres: PODIUM_DISPATCH is queue and the database is SQLite.
        BadSettings: the data directory cannot be written.
    """
    require_postgres_of_queue(settings)
    grades = not settings.queues if grades is None else grades
    validates = not (settings.queues and grades) if validates is None else validates
    data = settings.data_dir
    make_data_directory(data)
    blobs, cache = open_store(settings)
    database = Database(
        settings.database_url,
        write_patience=settings.database_patience_seconds,
        limits=DatabaseLimits(
            readers=settings.database_connections,
            statement_seconds=settings.database_statement_seconds,
            lock_seconds=settings.database_lock_seconds,
            connect_seconds=settings.database_connect_seconds,
        ),
    )
    files = VersionFiles(data / VERSIONS, database, blobs, cache)
    own_metrics = OwnMetrics()
    failures = FailureQuota(settings.run_failures, settings.outcome_step_seconds, own_metrics)
    insert = partial(
        insert_submissions,
        queues=settings.queues,
        step=settings.outcome_step_seconds,
        failures=failures,
        own_metrics=own_metrics,
    )
    return Context(
        settings=settings,
        database=database,
        blobs=blobs,
        cache=cache,
        graders=GraderPool(
            processes=settings.graders if grades else 0,
            seconds=settings.grading_seconds,
            memory_mb=settings.grader_memory_mb,
            cache_mb=settings.answers_cache_mb,
            validators=VALIDATORS if validates else 0,
            validation_seconds=settings.validation_seconds,
            requires_isolation=settings.require_isolation,
        ),
        catalogue=Catalogue(files, settings.competitions_dir, database),
        instance=keep_first_text(data / INSTANCE, uuid.uuid4().hex),
        inserts=WriteBatch(database.writer, insert, partial(insert, may_be_stored=True)),
        reservations=Reservations(
            settings.outcome_step_seconds, StoredBytes(settings.run_stored_mb), failures
        ),
        own_metrics=own_metrics,
        scratches=ScratchDirectories(data / FOLDER),
    )


def continue_ids(database: Database) -> None:
    """Make the new ids of this process sort after those in the database.

    Call it once the schema is upgraded. The clock may have been set back since the last start.

    Raises:
        Unavailable: the database is away.
    """
    with database.read() as session:
        ids.continue_ids(session)
        # SQLite would cache the pages that this read, and not notice their damage on the disk.
        session.connection().invalidate()


def lock_data_directory(data: Path) -> int:
    """Lock the data directory for this server process, until the process ends.

    Returns the lock's file descriptor. While the server has the lock, no other server is grading
    from this directory. So it can safely grade again the submissions that its predecessor left in
    the state `grading`.

    Raises:
        DataDirectoryInUse: another server has the lock.
        BadSettings: this user cannot write in the directory, or not where the versions are.
    """
    make_data_directory(data)
    require_usable(data / VERSIONS)
    descriptor = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DataDirectoryInUse(
            f"a Podium server already runs on {data}; stop it, or set PODIUM_DATA_DIR"
        ) from None
    remove_abandoned(data / FOLDER)  # temporary files of killed servers and commands
    return descriptor
