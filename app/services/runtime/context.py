"""The composition root: what every use case needs, put together once from the settings."""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from app.domain.states import SubmissionState
from app.errors import Conflict
from app.graders.pool import GraderPool
from app.services.runtime.blob_store import open_store
from app.services.runtime.catalogue import Catalogue
from app.services.runtime.claim_jobs import ClaimedJob, DeliveredJob, claim, defer
from app.services.runtime.insert_submissions import InsertedSubmission, insert_submissions
from app.services.runtime.notifications import Notifications
from app.services.runtime.version_files import VersionFiles
from app.services.runtime.write_outcomes import FinishedGrading, write_outcomes
from app.settings import Settings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.store import BlobStore
from app.storage.database.batch import Batch
from app.storage.database.database import Database
from app.storage.database.engine import DatabaseLimits
from app.storage.database.records import SubmissionRecord
from app.storage.queries import submissions

FETCHES = 4  # submissions that are on their way here from a store elsewhere, at once


class QueueNeedsPostgres(Conflict):
    """Workers take submissions from a queue in PostgreSQL, and this is SQLite."""


class DataDirectoryInUse(Conflict):
    """Another Podium server already uses this data directory."""


@dataclass(frozen=True)
class Context:
    """One Podium: its settings, what it keeps, and its graders."""

    settings: Settings
    database: Database
    blobs: BlobStore
    cache: FileCache
    graders: GraderPool
    catalogue: Catalogue
    instance: str
    inserts: Batch[SubmissionRecord, InsertedSubmission]
    job_claims: Batch[DeliveredJob, ClaimedJob]
    finished_gradings: Batch[FinishedGrading, SubmissionState | None]
    notifications: Notifications = field(default_factory=Notifications)
    fetching: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(FETCHES))

    def listen(self) -> None:
        """Begin to announce what was settled or changed, here and in other processes."""
        self.database.listen(self.notifications.notify, self._catch_up)

    def close(self) -> None:
        """Stop the graders, then let go of the database."""
        self.fetching.shutdown(wait=False, cancel_futures=True)
        self.graders.close()
        self.fetching.shutdown()
        self.database.close()
        self.cache.close()

    def _catch_up(self) -> None:
        """Announce what nobody heard of: while nothing was heard, it can be seen in the rows."""
        awaited = self.notifications.awaited()
        with self.database.read() as session:
            settled = submissions.settled_among(session, awaited)
        changed = [topic for topic in awaited if not topic.startswith(f"{submissions.PREFIX}_")]
        self.notifications.notify([*settled, *changed])

    def scratch(self) -> Path:
        """A new empty directory for work in progress, on the same disk as what is kept."""
        directory = self.settings.data_dir / "tmp" / uuid.uuid4().hex
        directory.mkdir(parents=True)
        return directory


def open_context(
    settings: Settings, *, grades: bool | None = None, validates: bool | None = None
) -> Context:
    """Open the database, blobs and graders that `settings` name. The caller closes the context.

    `grades` says whether this process grades submissions: by default, if no other one does. A
    process that does not grade starts a grader when it imports a competition. `validates` says
    whether a process that validates is kept: by default, wherever submissions are received.

    Raises:
        Conflict: submissions are to go through the queue, and there is no PostgreSQL.
    """
    if settings.queues and settings.is_sqlite:
        raise QueueNeedsPostgres(
            "PODIUM_DISPATCH is queue, and the queue is in PostgreSQL: set PODIUM_DATABASE_URL to "
            "postgresql://user:password@host/database, or PODIUM_DISPATCH to embedded."
        )
    grades = not settings.queues if grades is None else grades
    validates = not (settings.queues and grades) if validates is None else validates
    data = settings.data_dir
    data.mkdir(parents=True, exist_ok=True)
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
    files = VersionFiles(data / "competitions", database, blobs, cache)
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
            validates=validates,
            requires_isolation=settings.require_isolation,
        ),
        catalogue=Catalogue(files, settings.competitions_dir, database),
        instance=_instance(data),
        inserts=Batch(
            database, partial(insert_submissions, defer=defer if settings.queues else None)
        ),
        job_claims=Batch(database, partial(claim, max_attempts=settings.grading_attempts)),
        finished_gradings=Batch(
            database, partial(write_outcomes, max_attempts=settings.grading_attempts)
        ),
    )


def lock_data_directory(data: Path) -> int:
    """Claim the data directory for this server process; released when the process ends.

    Returns the lock's file descriptor. The claim is what makes it safe to grade again, at start,
    whatever this data directory's last server left in the state `grading`.

    Raises:
        DataDirectoryInUse: another server holds it.
    """
    data.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DataDirectoryInUse(
            f"a Podium server already runs on {data}; stop it, or set PODIUM_DATA_DIR"
        ) from None
    shutil.rmtree(data / "tmp", ignore_errors=True)  # what a killed server was receiving
    return descriptor


def _instance(data: Path) -> str:
    """A name for this data directory that stays the same over restarts: who claimed a grading."""
    file = data / "instance"
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        name = uuid.uuid4().hex
        partial = data / f"instance.{name}"
        partial.write_text(name)
        try:
            os.link(partial, file)  # fails where another process was quicker
        except FileExistsError:
            pass
        finally:
            partial.unlink()
        return file.read_text().strip()
