"""Blobs in an S3-compatible object store, with a bounded cache of them on this machine."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from app.errors import BadSettings, DamagedFile, StoreAway
from app.storage.blobs.cache import FileCache
from app.storage.blobs.lease import Lease
from app.storage.blobs.store import Blob, Upload, path_of, staged_name
from app.storage.blobs.upload import Spool

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

log = logging.getLogger("podium.storage")
CHUNK_BYTES = 1 << 20
# A file up to this size is sent in one request, a larger one in parts of this size. An upload has
# at most CONCURRENT_PARTS parts in memory.
PART_BYTES = 8 << 20
CONCURRENT_PARTS = 2
DOWNLOAD_ATTEMPTS = 2  # for a download that arrives damaged or incomplete
STAGED = "held"
PROBE = "probe"
CACHE_KIND = "blobs"  # the directory of blobs in the cache
NO_BUCKET = "NoSuchBucket"
# Wait for a slow server, but not for one that sends nothing. Retry for a few seconds only: an
# agent's request waits meanwhile, and the agent can retry after a 503.
CLIENT: ClientConfig = {
    "connect_timeout": timedelta(seconds=3),
    "read_timeout": timedelta(seconds=10),
    "timeout": timedelta(minutes=15),
}
RETRY: RetryConfig = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=1),
        "base": 2,
    },
}


class S3Blobs:
    """Objects `prefix/ab/cdef...` of a bucket, named by their SHA-256 like files on disk.

    Uploads are first written to the directory `spool`, because the digest, and so the object's
    name, is known only after the last byte.
    """

    is_local = False

    def __init__(
        self, bucket: str, prefix: str, options: dict[str, str], *, spool: Path, cache: FileCache
    ) -> None:
        self.name = f"s3://{bucket}/{prefix}".rstrip("/")
        self._cache = cache
        self._spool = Spool(spool)
        is_http = str(options.get("endpoint", "")).startswith("http://")
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            config=cast("S3Config", options),
            client_options={**CLIENT, "allow_http": is_http},
            retry_config=RETRY,
        )

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes arrive in pieces."""
        return self._spool.new_upload(self._keep)

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StoreAway: the store cannot be reached; nothing was stored.
        """
        blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
        with self._translate_errors():
            obstore.put(self._store, str(path_of(blob.sha256)), data, use_multipart=False)
        return blob

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a file of this machine whose digest is known."""
        key = str(path_of(blob.sha256))
        with self._translate_errors():
            if blob.bytes <= PART_BYTES:
                obstore.put(self._store, key, file, use_multipart=False)
            elif self._size(key) != blob.bytes:
                self._put_parts(key, file)

    def lease(self, sha256: str) -> Lease:
        """The blob as a file of the cache."""

        def make(target: Path) -> None:
            self.fetch(sha256, target)

        return self._cache.get(f"{CACHE_KIND}/{path_of(sha256)}", make)

    def fetch(self, sha256: str, target: Path) -> int:
        """Write the blob, verified, to the new file `target`."""
        key = str(path_of(sha256))
        for attempt in range(1, DOWNLOAD_ATTEMPTS + 1):
            try:
                return self._download(key, sha256, target)
            except (DamagedFile, StoreAway) as error:
                target.unlink(missing_ok=True)
                if attempt == DOWNLOAD_ATTEMPTS or isinstance(error.__cause__, FileNotFoundError):
                    raise
                log.warning("a download is tried again", extra={"blob": sha256})
        raise AssertionError  # the last attempt raised

    def stage(self, upload: Upload, name: str) -> Blob:
        """Store a file that may later become a blob or be discarded."""
        key = f"{STAGED}/{staged_name(name)}"

        def keep(path: Path, _: int, blob: Blob) -> bool:
            with self._translate_errors():
                if blob.bytes <= PART_BYTES:
                    obstore.put(self._store, key, path, use_multipart=False)
                else:
                    self._put_parts(key, path)
            return False

        return upload.finish(keep)

    def promote(self, name: str, blob: Blob) -> None:
        """Make a staged file a blob. A second call changes nothing."""
        key = str(path_of(blob.sha256))
        with self._translate_errors():
            with contextlib.suppress(FileNotFoundError):
                obstore.copy(self._store, f"{STAGED}/{staged_name(name)}", key)
            if self._size(key) != blob.bytes:
                raise DamagedFile(f"The store {self.name} has lost the staged file {name}.")
            obstore.delete(self._store, f"{STAGED}/{name}")

    def discard(self, name: str) -> None:
        """Remove a staged file, if it exists."""
        with self._translate_errors():
            obstore.delete(self._store, f"{STAGED}/{staged_name(name)}")

    def check(self) -> None:
        """Write an object and read it again.

        Raises:
            BadSettings: the bucket does not exist, or these credentials may not use it.
            StoreAway: the store does not answer.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                self._require_bucket()
            obstore.put(self._store, PROBE, uuid.uuid4().bytes, use_multipart=False)
            obstore.get(self._store, PROBE).bytes()
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise BadSettings(
                f"The store {self.name} (PODIUM_BLOBS_URL) refuses these credentials, or does not "
                f"let them write: {_reason(error)}. Podium reads AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, and has to read, write and delete below that prefix."
            ) from None
        except (BaseError, FileNotFoundError) as error:
            raise self._read_only(error) or self._away(error) from error

    def sweep(self) -> int:
        """Remove the unfinished uploads of dead processes on this machine; returns their number."""
        self._cache.sweep()
        return self._spool.sweep()

    def _keep(self, path: Path, _: int, blob: Blob) -> bool:
        self.put_file(path, blob)
        # Grading or showing the blob on this machine then needs no fetch.
        self._cache.add(f"{CACHE_KIND}/{path_of(blob.sha256)}", path)
        return True

    def _put_parts(self, key: str, file: Path) -> None:
        obstore.put(
            self._store,
            key,
            file,
            use_multipart=True,
            chunk_size=PART_BYTES,
            max_concurrency=CONCURRENT_PARTS,
        )

    def _size(self, key: str) -> int | None:
        try:
            return obstore.head(self._store, key)["size"]
        except FileNotFoundError:
            return None

    def _download(self, key: str, sha256: str, target: Path) -> int:
        digest, size = hashlib.sha256(), 0
        with self._translate_errors(), target.open("xb") as out:
            for chunk in obstore.get(self._store, key).stream(CHUNK_BYTES):
                digest.update(chunk)
                out.write(chunk)
                size += len(chunk)
        if digest.hexdigest() != sha256:
            raise DamagedFile(f"The store {self.name} has other bytes under {sha256}.")
        target.chmod(0o440)
        return size

    def _require_bucket(self) -> None:
        try:
            obstore.get(self._store, PROBE)
        except FileNotFoundError as error:
            if NO_BUCKET in str(error):
                raise BadSettings(
                    f"There is no bucket for {self.name} (PODIUM_BLOBS_URL): create it, or correct "
                    "the URL. Podium does not create buckets."
                ) from None
            raise

    def _read_only(self, error: Exception) -> BadSettings | None:
        """The error for a store that can be read but not written; None if it cannot be read."""
        try:
            obstore.get(self._store, PROBE)
        except FileNotFoundError:
            pass
        except BaseError:
            return None
        return BadSettings(
            f"The store {self.name} (PODIUM_BLOBS_URL) can be read but not written: "
            f"{_reason(error)}. Podium needs permission to write there."
        )

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate the store's errors into Podium's."""
        try:
            yield
        except FileNotFoundError as error:
            if NO_BUCKET in str(error):  # the bucket was removed; the file is not damaged
                raise self._away(error) from error
            raise DamagedFile(f"The store {self.name} lacks a file: {_reason(error)}.") from error
        except BaseError as error:
            raise self._away(error) from error

    def _away(self, error: Exception) -> StoreAway:
        log.warning("the blob store is away", extra={"store": self.name,
                                                         "reason": _reason(error)})  # fmt: skip
        return StoreAway(f"The store of files, {self.name}, does not answer as it should.")


def _reason(error: Exception) -> str:
    """The first line of the library's message; the others repeat it for programmers."""
    return str(error).split("\n", 1)[0].strip().rstrip(".:")
