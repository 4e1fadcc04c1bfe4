"""Compare stored files with the digests in the database, and check receipts and the public log."""

from __future__ import annotations

import contextlib
import random
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from os.path import samestat
from pathlib import Path

from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from app.errors import DamagedFile
from app.services.operations.start_checks import DamagedDatabase, refuse_damaged_pages
from app.services.operations.verify_progress import Damage, VerifyProgress
from app.services.operations.verify_records import (
    CHANGED_RECORD,
    DATABASE,
    RECEIPT,
    ROW,
    changed_records,
    damaged_page,
)
from app.services.operations.verify_schema import refuse_other_schema
from app.services.runtime.blob_store import store_alone
from app.services.runtime.scratch import FOLDER, ScratchDirectories
from app.services.runtime.version_files import directory_of
from app.settings import Settings
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.store import BlobStore, path_of
from app.storage.blobs.verify import verify_file
from app.storage.database import dump
from app.storage.database.database import Database
from app.storage.database.engine import DatabaseLimits
from app.storage.database.urls import sqlite_file
from app.storage.queries import version_files
from app.storage.queries.operation import files_in_use
from app.thread_pool import map_concurrently

PARALLEL_READS = 4
SAVE_SECONDS = 2.0
LIMITS = DatabaseLimits(statement_seconds=3600.0)
NAMED = 5  # submissions and files of versions that one remedy names
CHANGED_ROW = ": the row was changed"
NO_DIGEST = f"the database names the file by something that is not a SHA-256{CHANGED_ROW}"
Advance = Callable[[str, int, int], None]  # the step, the amount just done, the total amount


@dataclass(frozen=True, slots=True)
class _Target:
    """A file to compare: a blob of the store, or (with a path) a file of a version's directory."""

    key: str  # ascending in the order of the comparison
    sha256: str
    bytes: int
    path: Path | None = None


def verify(
    settings: Settings, advance: Advance, *, sample: int | None, progress: VerifyProgress
) -> None:
    """Compare all files that rows name, or a random `sample`, and add damage to `progress`.

    Without a `sample`, it also checks values of rows, receipts, the public log, and signed grades.
    It begins after the last file in `progress`, and saves `progress` from time to time and at the
    end.

    Raises:
        Unavailable, StoreAway: the database or the store is away. The next call can continue.
        OldSchema: the database lacks what is compared: an older Podium migrated it, or none did.
        SchemaTooNew, UnknownSchema: a newer one did, or nobody knows which.
    """
    # A call that continues checks rows again, but not a file of SQLite.
    progress.forget({ROW, RECEIPT, *([] if sqlite_file(settings.database_url) else [DATABASE])})
    is_database_damaged = _check_database(settings, progress)
    database = Database(settings.database_url, limits=LIMITS)
    with contextlib.ExitStack() as opened:
        opened.enter_context(contextlib.closing(database))
        try:
            if not is_database_damaged:  # shows also that it is there, before a store is made
                refuse_other_schema(database)
        except DatabaseError as error:
            progress.damaged.append(damaged_page(database, error))
            return
        store = opened.enter_context(store_alone(settings))
        try:
            with database.read() as session, _scratch(settings) as scratch:
                _compare_files(session, store, settings, scratch, advance, sample, progress)
                if sample is None:
                    progress.damaged += changed_records(session)
            progress.complete = True
        except DatabaseError as error:
            if is_database_damaged:
                found = progress.damaged[-1]
                problem = (
                    f"{found.problem} Files were not compared: it cannot be asked for their names."
                )
                progress.damaged[-1] = replace(found, problem=problem)
            else:
                progress.damaged.append(damaged_page(database, error))
        finally:
            if sample is None:
                progress.save()


def _check_database(settings: Settings, progress: VerifyProgress) -> bool:
    """Add a damaged SQLite file to `progress`. Returns whether it is damaged."""
    file = sqlite_file(settings.database_url)
    if file is None or progress.after:
        return False
    try:
        refuse_damaged_pages(file)
    except DamagedDatabase as error:
        remedy = "Restore a backup (`podium restore`) into a new PODIUM_DATA_DIR."
        progress.damaged.append(Damage(DATABASE, str(file), str(error), [], remedy))
        return True
    return False


def _compare_files(
    session: Session,
    store: BlobStore,
    settings: Settings,
    scratch: Path,
    advance: Advance,
    sample: int | None,
    progress: VerifyProgress,
) -> None:
    saved_at = time.monotonic()
    targets = _targets(session, store, settings.data_dir / "competitions", progress.after)
    if sample is not None:
        targets = iter(_sample(targets, sample))
        total = sample
    else:
        total = dump.count_referenced_files(session.connection()) - progress.checked
    compare = _comparison(store, scratch)
    for target, problem in map_concurrently(compare, targets, concurrency=PARALLEL_READS):
        if problem is not None:
            progress.damaged.append(_damage(session, store, target, problem))
        progress.count(target.key, target.bytes if isinstance(target.bytes, int) else 0)
        advance("comparing files", 1, max(total, 1))
        if time.monotonic() - saved_at > SAVE_SECONDS and sample is None:
            progress.save()
            saved_at = time.monotonic()


def _targets(session: Session, store: BlobStore, versions: Path, after: str) -> Iterator[_Target]:
    """All files to compare after `after`, each once, even if it is a blob and a version's file."""
    for sha256, size in dump.referenced_files(session.connection()):
        if (key := f"blob {sha256}") > after:
            yield _Target(key, sha256, size)
    found = version_files.of_all_versions(session)
    for slug, content_hash, file in sorted(
        found, key=lambda each: (each[0], each[1], each[2].path)
    ):
        directory = directory_of(versions, slug, content_hash)
        key = f"version {slug} {content_hash} {file.path}"
        path = directory / file.path
        if key > after and directory.is_dir() and not _is_blob(store, path, file.sha256):
            yield _Target(key, file.sha256, file.bytes, path)


def _is_blob(store: BlobStore, path: Path, sha256: str) -> bool:
    with contextlib.suppress(OSError, ValueError):  # a file is missing; it is not a digest
        return isinstance(store, DiskBlobs) and samestat(path.lstat(), store.path(sha256).lstat())
    return False


def _sample(targets: Iterator[_Target], size: int) -> list[_Target]:
    """As many of the targets, each with the same probability (Algorithm R)."""
    chosen: list[_Target] = []
    for number, target in enumerate(targets):
        if number < size:
            chosen.append(target)
        elif (place := random.randrange(number + 1)) < size:  # noqa: S311 (no secret)
            chosen[place] = target
    return chosen


@contextlib.contextmanager
def _scratch(settings: Settings) -> Iterator[Path]:
    """A directory for copies, on the disk of the data, because TMPDIR may be in memory."""
    directories = ScratchDirectories(settings.data_dir / FOLDER)
    directory = directories.new()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        directories.close()


def _comparison(store: BlobStore, scratch: Path) -> Callable[[_Target], tuple[_Target, str | None]]:
    def compare(target: _Target) -> tuple[_Target, str | None]:
        try:
            path_of(target.sha256)
            if target.path is not None:
                found = verify_file(target.path, target.sha256)
            elif isinstance(store, DiskBlobs):
                found = verify_file(store.path(target.sha256), target.sha256)
            else:
                copy = scratch / uuid.uuid4().hex  # two rows may name one file
                try:
                    found = store.fetch(target.sha256, copy)
                finally:
                    copy.unlink(missing_ok=True)
        except DamagedFile as error:
            return target, str(error)
        except ValueError:  # path_of refuses the digest
            return target, NO_DIGEST
        if found != target.bytes:
            problem = f"a row says that the file has {target.bytes!r} bytes, and it has {found}"
            return target, problem + CHANGED_ROW
        return target, None

    return compare


def _damage(session: Session, store: BlobStore, target: _Target, problem: str) -> Damage:
    sent = files_in_use.submissions_with(session, target.sha256, NAMED)
    files = files_in_use.version_files_with(session, target.sha256, NAMED)
    needed_by = [f"submission {one}" for one in sent]
    needed_by += [f"{slug}, version {number}, {path}" for slug, number, path in files]
    if problem.endswith(CHANGED_ROW):
        kind, name = ("version", str(target.path)) if target.path else ("blob", target.sha256)
        return Damage(kind, name, problem, needed_by, CHANGED_RECORD)
    remedies = []
    if files:
        remedies.append(
            f"import the folder of {files[0][0]} again (`podium import folder`): the same content "
            "replaces the copy"
        )
    if sent:
        remedies.append("send the same bytes again in any run: they replace the copy")
    place = f"blobs/{target.sha256[:2]}/{target.sha256[2:]}"
    if target.path is not None:
        name = str(target.path)
    elif isinstance(store, DiskBlobs):
        name = str(store.path(target.sha256))
    else:
        name = f"{store.name}/{target.sha256[:2]}/{target.sha256[2:]}"
        remedies = [f"remove that object, then {one}" for one in remedies]
    remedies.append(f"copy {place} of a backup to it")
    kind = "blob" if target.path is None else "version"
    return Damage(kind, name, problem, needed_by, "; or ".join(remedies))
