"""Blobs in an S3-compatible object store, with a bounded cache of them on this machine."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
from pathlib import Path

import obstore
from obstore.exceptions import AlreadyExistsError

from app.errors import DamagedFile, StoreAway
from app.logs import log_outage
from app.storage.blobs.cache import FileCache
from app.storage.blobs.lease import Lease
from app.storage.blobs.s3_connection import NO_FILE, Patience, connect, require_usable
from app.storage.blobs.s3_old_files import S3OldFiles, not_as_said, removed_key
from app.storage.blobs.store import STAGED, Blob, Upload, path_of, staged_name
from app.storage.blobs.upload import Spool
from app.storage.blobs.verify import VerifiedFiles, undamaged
from app.units import CHUNK_BYTES

log = logging.getLogger("podium.storage")
# A file up to this size is sent in one request, a larger one in parts of this size. An upload has
# at most CONCURRENT_PARTS parts in memory.
PART_BYTES = 8 << 20
CONCURRENT_PARTS = 2
DOWNLOAD_ATTEMPTS = 2  # attempts at a download that arrives damaged or incomplete
MD5 = re.compile("[0-9a-fA-F]{32}")
CACHE_KIND, SHOWN_KIND = "blobs", "downloads"  # the directories of blobs in the cache


class S3Blobs:
    """Objects `prefix/ab/cdef...` of a bucket, named by their SHA-256 like files on disk.

    Uploads are first written to the directory `spool`, because the digest, and so the object's
    name, is known only after the last byte.
    """

    is_local = False

    def __init__(
        self,
        bucket: str,
        prefix: str,
        options: dict[str, str],
        *,
        spool: Path,
        cache: FileCache,
        reserve_percent: float = 0.0,
    ) -> None:
        self.name = f"s3://{bucket}/{prefix}".rstrip("/")
        self._cache = cache
        self._spool = Spool(spool, reserve_percent)
        self._store = connect(bucket, prefix, options)
        self._patience = Patience(self.name)
        self._verified = VerifiedFiles(of_cache=True)

    def is_there(self) -> bool:
        """Always true: if S3 cannot be reached, each request to it fails."""
        return True

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes arrive in pieces."""
        return self._spool.new_upload(self._keep)

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StoreAway: the store cannot be reached; nothing was stored.
        """
        blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
        with self._patience.translated_errors():
            obstore.put(self._store, str(path_of(blob.sha256)), data, use_multipart=False)
        return blob

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a file of this machine whose digest is known."""
        key = str(path_of(blob.sha256))
        with self._patience.translated_errors():
            if blob.bytes <= PART_BYTES:
                obstore.put(self._store, key, file, use_multipart=False)
            else:  # even if it exists: it may be damaged, and must not count as old
                self._put_parts(key, file)

    def lease(self, sha256: str, *, is_shown: bool = False) -> Lease:
        """The blob as a file of the cache."""
        kind = SHOWN_KIND if is_shown else CACHE_KIND

        def make(target: Path) -> None:
            self.fetch(sha256, target)

        def require(copy: Path) -> None:
            self._verified.require(copy, sha256)

        return undamaged(self._cache, f"{kind}/{path_of(sha256)}", make, require)

    def fetch(self, sha256: str, target: Path) -> int:
        """Write the blob, verified, to the new file `target`."""
        key = str(path_of(sha256))
        for attempt in range(1, DOWNLOAD_ATTEMPTS + 1):
            try:
                return self._download(key, sha256, target)
            except (DamagedFile, StoreAway) as error:
                target.unlink(missing_ok=True)
                if isinstance(error.__cause__, FileNotFoundError):
                    return self._fetch_removed(sha256, target, error)
                if attempt == DOWNLOAD_ATTEMPTS:
                    raise
                log_outage(log, "a download is tried again", error, blob=sha256)
        raise AssertionError  # the last attempt raised

    def stage(self, upload: Upload, name: str) -> Blob:
        """Store a file that may later become a blob or be discarded."""
        key = f"{STAGED}/{staged_name(name)}"

        def keep(path: Path, _: int, blob: Blob) -> bool:
            with self._patience.translated_errors():
                if blob.bytes <= PART_BYTES:
                    obstore.put(self._store, key, path, use_multipart=False)
                else:
                    self._put_parts(key, path)
            return False

        return upload.finish(keep)

    def promote(self, name: str, blob: Blob) -> None:
        """Make a staged file a blob. A second call changes nothing."""
        key, is_copied = str(path_of(blob.sha256)), False
        with self._patience.translated_errors():
            try:
                obstore.copy(self._store, f"{STAGED}/{staged_name(name)}", key)
                is_copied = True
            except FileNotFoundError as error:  # an earlier call copied it and removed the source
                if NO_FILE not in str(error):  # a proxy in front of the store answered with a page
                    raise
            size = self._size(key)
            if is_copied and size is None:
                raise not_as_said(self.name)
            if size != blob.bytes:
                raise DamagedFile(f"The store {self.name} has lost the staged file {name}.")
            obstore.delete(self._store, f"{STAGED}/{name}")

    def discard(self, name: str) -> None:
        """Remove a staged file, if it exists."""
        with self._patience.translated_errors():
            obstore.delete(self._store, f"{STAGED}/{staged_name(name)}")

    def check(self) -> None:
        """Write an object and read it again.

        Raises:
            BadSettings: the bucket does not exist, or these credentials may not use it.
            StoreAway: the store does not answer.
        """
        require_usable(self._store, self.name)

    def keep_first(self, name: str, text: str) -> str:
        """Return the text of the object `name`; create it with `text` if missing.

        Some servers have no conditional writes. If two processes write to such a server at the same
        moment, both then get the text that was written last.
        """
        with self._patience.translated_errors():
            with contextlib.suppress(FileNotFoundError):
                return self._text(name)
            with contextlib.suppress(AlreadyExistsError):
                obstore.put(self._store, name, text.encode(), mode="create", use_multipart=False)
            return self._text(name)

    def old_files(self) -> S3OldFiles:
        """The objects that were not written lately, and their removal."""
        return S3OldFiles(self._store, self.name)

    def sweep(self) -> int:
        """Remove the unfinished uploads of dead processes on this machine; returns their number."""
        self._cache.sweep()
        return self._spool.sweep()

    def _keep(self, path: Path, _: int, blob: Blob) -> bool:
        self.put_file(path, blob)
        # Grading or showing the blob on this machine then needs no fetch.
        try:
            self._cache.add(f"{CACHE_KIND}/{path_of(blob.sha256)}", path)
        except OSError as error:  # the cache's disk is full, for example; the store has the blob
            log.warning("no copy in the cache", extra={"blob": blob.sha256, "why": error.strerror})
            return False
        return True

    def _put_parts(self, key: str, file: Path) -> None:
        obstore.put(
            self._store, key, file,
            use_multipart=True, chunk_size=PART_BYTES, max_concurrency=CONCURRENT_PARTS,
        )  # fmt: skip

    def _fetch_removed(self, sha256: str, target: Path, error: Exception) -> int:
        """Fetch a blob that was garbage-collected just before a row referenced it."""
        try:
            return self._download(removed_key(sha256), sha256, target)
        except DamagedFile:
            target.unlink(missing_ok=True)
            raise error from error.__cause__

    def _text(self, key: str) -> str:
        answer = obstore.get(self._store, key)
        if not answer.meta["e_tag"]:  # a proxy in front of the store answered with a page
            raise not_as_said(self.name, "does not send what it has")
        return bytes(answer.bytes()).decode(errors="replace").strip()

    def _size(self, key: str) -> int | None:
        try:
            return obstore.head(self._store, key)["size"]
        except FileNotFoundError:
            return None

    def _download(self, key: str, sha256: str, target: Path) -> int:
        digest, size = hashlib.sha256(), 0
        # Opened first, so that a missing directory here is not taken for an error of the store.
        with target.open("xb") as out, self._patience.translated_errors():
            answer = obstore.get(self._store, key)
            for chunk in answer.stream(CHUNK_BYTES):
                digest.update(chunk)
                out.write(chunk)
                size += len(chunk)
        if digest.hexdigest() != sha256:
            if not _is_of(target, answer.meta["e_tag"]):
                raise not_as_said(self.name, "does not send what it has")
            raise DamagedFile(f"The store {self.name} has other bytes under {sha256}.")
        target.chmod(0o440)
        return size


def _is_of(file: Path, e_tag: str | None) -> bool:
    """Whether the ETag is consistent with this file, so that the store may have sent all of it.

    An answer without an ETag comes from something else, such as a proxy. For a file in one part it
    is the MD5 of the bytes, unless the store encrypts them with a customer's key.
    """
    said = (e_tag or "").strip('"')
    if not MD5.fullmatch(said):
        return bool(said)
    with file.open("rb") as read:
        return hashlib.file_digest(read, _md5).hexdigest() == said.lower()


def _md5() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)
