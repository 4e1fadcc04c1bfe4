"""Imports of archives in the background: one at a time, each with its progress and result.

They belong to one server and end with it. The list is for people who watch an import; the imported
version is in the database and the store.
"""

from __future__ import annotations

import logging
import shutil
import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.errors import BadCompetition, Conflict, NotFound, PodiumError, Unavailable
from app.services.competitions.import_folder import Imported, import_archive
from app.services.runtime.context import Context

log = logging.getLogger("podium")
KEPT = 20
RUNNING, IMPORTED, KNOWN, REFUSED, FAILED = "running", "imported", "known", "refused", "failed"
STOP_SECONDS = 20.0  # a stopping server waits for the file that is being copied
OURS = (
    "Podium failed while it imported this archive, and nothing was changed. The log of the server "
    "has the reason."
)
ANOTHER = "An import is going on at this server; start the next one after it."


class Stopping(Unavailable):
    """The server stops."""


@dataclass
class ImportJob:
    """One import. `files` and `bytes` count what was unpacked and copied so far."""

    id: str
    archive_bytes: int
    started_at: datetime
    state: str = RUNNING
    files: int = 0
    bytes: int = 0
    ended_at: datetime | None = None
    result: Imported | None = None
    mistakes: list[dict[str, str]] = field(default_factory=list)
    detail: str = ""


class ImportJobs:
    """The imports of this server."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, ImportJob] = OrderedDict()
        self._lock = threading.Lock()
        self._is_stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, context: Context, scratch: Path, archive: Path) -> ImportJob:
        """Import the archive in a thread of its own, then remove the directory `scratch`.

        Raises:
            Conflict: another import is going on.
        """
        with self._lock:
            if self._running() is not None:
                raise Conflict(ANOTHER)
            job = ImportJob(f"imp_{uuid.uuid4().hex}", archive.stat().st_size, datetime.now(UTC))
            thread = threading.Thread(
                target=self._run, args=(context, job, scratch, archive), name="import"
            )
            thread.start()  # before the job is listed: at a limit of threads it never runs
            self._thread = thread
            self._jobs[job.id] = job
            while len(self._jobs) > KEPT:
                self._jobs.popitem(last=False)
        return job

    def require_idle(self) -> None:
        """Refuse an archive before it is received.

        Raises:
            Conflict: an import is going on.
        """
        with self._lock:
            if self._running() is not None:
                raise Conflict(ANOTHER)

    def find(self, job_id: str) -> ImportJob:
        """The import with this id.

        Raises:
            NotFound: this server has no such import.
        """
        with self._lock:
            found = self._jobs.get(job_id)
        if found is None:
            raise NotFound(
                f"This server has no import {job_id!r}: it was before the last start, or another "
                "server has it. The list of competitions has what was imported."
            )
        return found

    def latest(self) -> list[ImportJob]:
        """The imports since the start of the server, the newest first."""
        with self._lock:
            return list(self._jobs.values())[::-1]

    def close(self) -> None:
        """End the present import. The files that it has copied are removed."""
        self._is_stopping.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def _running(self) -> ImportJob | None:
        return next((one for one in self._jobs.values() if one.state == RUNNING), None)

    def _run(self, context: Context, job: ImportJob, scratch: Path, archive: Path) -> None:
        def progress(_: str, size: int) -> None:
            if self._is_stopping.is_set():
                raise Stopping("The server stopped before this import was done; send it again.")
            job.files += 1
            job.bytes += size

        try:
            job.result = import_archive(context, archive, progress)
            state = IMPORTED if job.result.created else KNOWN
        except BadCompetition as refusal:
            job.mistakes, state = refusal.problems, REFUSED
        except PodiumError as refusal:
            job.detail, state = refusal.detail, FAILED
        except Exception:  # whoever watches the import has to see its end, whatever it is
            log.exception("an import from a page failed", extra={"import": job.id})
            job.detail, state = OURS, FAILED
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        job.ended_at = datetime.now(UTC)
        job.state = state
