"""Competition versions' files: stored as blobs once, and brought to whichever machine needs them.

Where the store is this machine's disk, an import also leaves a version's files in a directory of
their own below `competitions/`, so that grading needs no copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from app.errors import DamagedFile
from app.importers.folder import SAMPLE
from app.importers.tree import StagedFile
from app.storage.blobs.cache import FileCache
from app.storage.blobs.concurrency import map_concurrently
from app.storage.blobs.lease import Lease
from app.storage.blobs.store import Blob, BlobStore
from app.storage.database.database import Database
from app.storage.database.records import VersionFileRecord, VersionRecord
from app.storage.queries import version_files

PARALLEL_COPIES = (
    8  # files stored or fetched side by side: a store elsewhere answers many at a time
)
WITH_ANSWERS, WITHOUT_ANSWERS = "graded", "shown"  # kinds of directories in the cache


class VersionFiles:
    """Where versions' files are: in `root/<slug>/<hash>/`, or in the blob store and its cache."""

    def __init__(self, root: Path, database: Database, blobs: BlobStore, cache: FileCache) -> None:
        self.root = root
        self._database = database
        self._blobs = blobs
        self._cache = cache

    def imported_directory(self, slug: str, content_hash: str) -> Path:
        """Where an import puts a version. Slug and hash were checked when it was made."""
        return self.root / slug / content_hash[:32]

    def lease(self, version: VersionRecord, *, answers: bool) -> Lease:
        """A directory with what grading needs; without `answers`, with nothing private.

        Of the public files only the sample submission is sure to be there.

        Raises:
            DamagedFile: a file is missing or damaged in the store.
            StoreAway: the store cannot be reached.
        """
        directory = self.imported_directory(version.slug, version.content_hash)
        if directory.is_dir():
            return Lease(directory)
        kind = WITH_ANSWERS if answers else WITHOUT_ANSWERS

        def make(target: Path) -> None:
            with self._database.read() as session:
                files = version_files.working_files(
                    session, version.id, also=(SAMPLE,), private=answers
                )
            self._fetch(version, files, target)

        return self._cache.get(f"{kind}/{version.slug}/{version.content_hash[:32]}", make)

    def lease_public(self, version: VersionRecord, name: str, sha256: str) -> Lease:
        """One public file, which the version lists under this name with this digest.

        Raises:
            DamagedFile, StoreAway: as `lease`.
        """
        directory = self.imported_directory(version.slug, version.content_hash)
        if directory.is_dir():
            return Lease(directory / "public" / name)
        return self._blobs.lease(sha256)

    def copy_all(self, version: VersionRecord, folder: Path) -> None:
        """Write every file of the version below the new directory `folder`, to be changed there.

        Raises:
            DamagedFile, StoreAway: as `lease`.
        """
        directory = self.imported_directory(version.slug, version.content_hash)
        if directory.is_dir():
            shutil.copytree(directory, folder, copy_function=shutil.copyfile)
            return
        with self._database.read() as session:
            files = version_files.all_files(session, version.id)
        self._fetch(version, files, folder)
        for file in files:  # second names of blobs may not be written to
            path = folder / file.path
            shutil.copyfile(path, path.with_name(f"{path.name}.copy"))
            path.with_name(f"{path.name}.copy").replace(path)

    def store(self, directory: Path, copies: Iterable[StagedFile]) -> list[VersionFileRecord]:
        """Make blobs of a version's files; says what to write down about them.

        Raises:
            StorageFull, StoreAway: nothing that was stored by then is in anybody's way.
        """

        def put(copy: StagedFile) -> VersionFileRecord:
            self._blobs.put_file(directory / copy.path, Blob(copy.sha256, copy.bytes))
            return VersionFileRecord(path=copy.path, sha256=copy.sha256, bytes=copy.bytes)

        return list(map_concurrently(put, copies, at_once=PARALLEL_COPIES))

    def _fetch(self, version: VersionRecord, files: list[VersionFileRecord], target: Path) -> None:
        if not files:
            raise DamagedFile(
                f"The database names no files of version {version.number} of {version.slug}: "
                "restore a backup that has them."
            )

        def fetch(file: VersionFileRecord) -> None:
            self._blobs.fetch(file.sha256, target / file.path)

        for parent in {(target / file.path).parent for file in files}:
            parent.mkdir(parents=True, exist_ok=True)
        for _ in map_concurrently(fetch, files, at_once=PARALLEL_COPIES):
            pass
