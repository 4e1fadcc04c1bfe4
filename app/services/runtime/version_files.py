"""The files of competition versions: stored as blobs, and fetched to each machine that needs them.

If the store is this machine's disk, an import also keeps a version's files in a directory below
`competitions/`, so that grading needs no copy.
"""

from __future__ import annotations

import re
import shutil
import threading
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from cachetools import LRUCache

from app.domain.competition import SAMPLE_FILE
from app.errors import DamagedFile
from app.importers.tree import StagedFile
from app.storage.blobs.cache import FileCache
from app.storage.blobs.lease import Lease
from app.storage.blobs.links import link_or_copy
from app.storage.blobs.store import Blob, BlobStore
from app.storage.blobs.verify import FilesAsSeen, VerifiedFiles, undamaged, verify_file
from app.storage.database.database import Database
from app.storage.database.records import VersionFileRecord, VersionRecord
from app.storage.queries import version_files
from app.thread_pool import map_concurrently

CACHED_LISTS = 512  # a version has one or two lists
PARALLEL_COPIES = 8  # files that are stored or fetched at the same time
# A version's directory is named by the first digits of its content hash.
NAME = re.compile(r"[0-9a-f]{32}")
WITH_ANSWERS, WITHOUT_ANSWERS = "graded", "shown"  # kinds of directories in the cache
VersionKey = tuple[int, str, datetime]


def version_key(version: VersionRecord) -> VersionKey:
    """A key that no other version has. An id is not enough: a standby may give it again."""
    return version.id, version.content_hash, version.imported_at


class VersionFiles:
    """Finds versions' files in `root/<slug>/<hash>/`, or in the blob store and its cache."""

    def __init__(self, root: Path, database: Database, blobs: BlobStore, cache: FileCache) -> None:
        self.root = root
        self._database = database
        self._blobs = blobs
        self._cache = cache
        self._verified = VerifiedFiles()
        self._working: LRUCache[tuple[VersionKey, bool], list[VersionFileRecord]] = LRUCache(
            CACHED_LISTS
        )
        # The directories of imports, with their files as they were just before they were verified.
        self._imported: LRUCache[tuple[VersionKey, bool], tuple[Path, FilesAsSeen]] = LRUCache(
            CACHED_LISTS
        )
        self._leased: set[tuple[int, int]] = set()
        self._lock = threading.Lock()

    def imported_directory(self, slug: str, content_hash: str) -> Path:
        """The directory where an import puts a version. The caller has checked slug and hash."""
        return directory_of(self.root, slug, content_hash)

    def lease(self, version: VersionRecord, *, answers: bool) -> Lease:
        """A directory with the files that grading needs; without `answers`, no private files.

        Of the public files it may have only the sample submission.

        Raises:
            DamagedFile: a file is missing or damaged in the store.
            StoreAway: the store cannot be reached.
        """
        losses = self._database.losses
        lease = self._lease(version, answers=answers)
        if answers:
            with self._lock:
                self._leased.add((losses, version.id))
        return lease

    def were_leased(self, version_id: int) -> bool:
        """Whether this process had a lease with the answers. Then a new one reads only changes."""
        with self._lock:
            return (self._database.losses, version_id) in self._leased

    def _lease(self, version: VersionRecord, *, answers: bool) -> Lease:
        key = version_key(version), answers
        with self._lock:
            known = self._imported.get(key)
        if known is not None and known[1].are_the_same():
            return Lease(known[0])
        directory = self.imported_directory(version.slug, version.content_hash)
        if directory.is_dir():
            files = self._working_files(version, answers=answers)
            seen = FilesAsSeen.now(directory / file.path for file in files)
            self._verify(version, directory, answers=answers)
            with self._lock:
                self._imported[key] = directory, seen
            return Lease(directory)
        kind = WITH_ANSWERS if answers else WITHOUT_ANSWERS

        def make(target: Path) -> None:
            self._fetch(version, self._working_files(version, answers=answers), target)

        def require(copy: Path) -> None:
            self._verify(version, copy, answers=answers)

        copied = f"{kind}/{version.slug}/{version.content_hash[:32]}"
        return undamaged(self._cache, copied, make, require)

    def lease_public(self, version: VersionRecord, name: str, sha256: str) -> Lease:
        """One public file, by its name and digest in the version's list of files.

        Raises:
            DamagedFile, StoreAway: as `lease`.
        """
        directory = self.imported_directory(version.slug, version.content_hash)
        if directory.is_dir():
            self._verified.require(directory / "public" / name, sha256)
            return Lease(directory / "public" / name)
        return self._blobs.lease(sha256)

    def copy_all(self, version: VersionRecord, folder: Path) -> None:
        """Copy every file of the version into the new directory `folder`, for changing them there.

        Raises:
            DamagedFile, StoreAway: as `lease`.
        """
        with self._database.read() as session:
            files = version_files.all_files(session, version.id)
        directory = self.imported_directory(version.slug, version.content_hash)
        if directory.is_dir():
            # Damaged answers must not become those of a new version, since its digest would fit
            # them.
            for file in files:
                self._verified.require(directory / file.path, file.sha256)
                (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(directory / file.path, folder / file.path)
            return
        self._fetch(version, files, folder)
        for file in files:  # the fetched files may be hard links to blobs: replace them with copies
            path = folder / file.path
            shutil.copyfile(path, path.with_name(f"{path.name}.copy"))
            path.with_name(f"{path.name}.copy").replace(path)

    def store(self, directory: Path, staged: Iterable[StagedFile]) -> list[VersionFileRecord]:
        """Store a version's files as blobs; returns the records to write for them.

        Raises:
            StorageFull, StoreAway: some blobs may be stored already; they do no harm.
        """

        def put(file: StagedFile) -> VersionFileRecord:
            self._blobs.put_file(directory / file.path, Blob(file.sha256, file.bytes))
            return VersionFileRecord(path=file.path, sha256=file.sha256, bytes=file.bytes)

        return list(map_concurrently(put, staged, concurrency=PARALLEL_COPIES))

    def repair(self, version: VersionRecord, directory: Path, staged: Iterable[StagedFile]) -> None:
        """Replace damaged and missing files of a version by the same bytes, staged again.

        A staged file with other bytes is left out, because notes about the source are not content.

        Raises:
            StorageFull, StoreAway: some files may be replaced already.
        """
        with self._database.read() as session:
            recorded = {
                file.path: file.sha256 for file in version_files.all_files(session, version.id)
            }
        files = [file for file in staged if recorded.get(file.path) == file.sha256]
        self.store(directory, files)
        own = self.imported_directory(version.slug, version.content_hash)
        if not own.is_dir():
            return  # its files are fetched from the store
        for file in files:
            target = own / file.path
            try:
                verify_file(target, file.sha256)
            except DamagedFile:
                target.parent.mkdir(parents=True, exist_ok=True)
                partial = target.with_name(f"{target.name}.{uuid.uuid4().hex}")
                try:
                    link_or_copy(directory / file.path, partial)
                    partial.replace(target)
                except BaseException:
                    partial.unlink(missing_ok=True)
                    raise

    def _verify(self, version: VersionRecord, directory: Path, *, answers: bool) -> None:
        """Compare the files with their digests, again only if a file has changed on the disk."""
        for file in self._working_files(version, answers=answers):
            self._verified.require(directory / file.path, file.sha256)

    def _working_files(self, version: VersionRecord, *, answers: bool) -> list[VersionFileRecord]:
        key = version_key(version), answers
        with self._lock:
            known = self._working.get(key)
        if known is not None:
            return known
        with self._database.read() as session:
            files = version_files.working_files(
                session, version.id, also=(SAMPLE_FILE,), private=answers
            )
        with self._lock:
            self._working[key] = files
        return files

    def _fetch(self, version: VersionRecord, files: list[VersionFileRecord], target: Path) -> None:
        if not files:
            raise DamagedFile(
                f"The database lists no files for version {version.number} of {version.slug}: "
                "restore a backup that lists them."
            )

        def fetch(file: VersionFileRecord) -> None:
            self._blobs.fetch(file.sha256, target / file.path)

        for parent in {(target / file.path).parent for file in files}:
            parent.mkdir(parents=True, exist_ok=True)
        for _ in map_concurrently(fetch, files, concurrency=PARALLEL_COPIES):
            pass


def version_directories(root: Path) -> Iterator[Path]:
    """The directories of versions below `root`, sorted. Other files there are ignored."""
    for path in sorted(root.glob("*/*")):
        if NAME.fullmatch(path.name) and path.is_dir():
            yield path


def directory_of(root: Path, slug: str, content_hash: str) -> Path:
    """The directory of a version below `root`."""
    return root / slug / content_hash[:32]
