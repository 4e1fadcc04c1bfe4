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
CHUNK = 1 << 20
# A file up to this size goes in one request; a larger one in parts of this size, few at a time:
# an upload never has more than PARTS of them in memory, whatever its size.
PART = 8 << 20
PARTS = 2
ATTEMPTS = 2  # at a download that was damaged or broken off on its way
STAGED = "held"
PROBE = "probe"
NAME = "blobs"  # in the cache
NO_BUCKET = "NoSuchBucket"
# A server that answers slowly is waited for, one that says nothing is away. Requests are tried
# again for some seconds: a request of an agent waits meanwhile, and 503 is an answer too.
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
    """Objects `prefix/ab/cdef...` of a bucket, named by their SHA-256 as files on a disk are.

    `spool` is where uploads are written before they go there: an object's name, its digest, is
    known at its last byte only.
    """

    is_local = False

    def __init__(
        self, bucket: str, prefix: str, options: dict[str, str], *, spool: Path, cache: FileCache
    ) -> None:
        self.name = f"s3://{bucket}/{prefix}".rstrip("/")
        self._cache = cache
        self._spool = Spool(spool)
        plain = str(options.get("endpoint", "")).startswith("http://")
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            config=cast("S3Config", options),
            client_options={**CLIENT, "allow_http": plain},
            retry_config=RETRY,
        )

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes come in pieces."""
        return self._spool.new_upload(self._keep)

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StoreAway: the store cannot be reached; nothing was stored.
        """
        blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
        with self._speaking():
            obstore.put(self._store, str(path_of(blob.sha256)), data, use_multipart=False)
        return blob

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a file of this machine whose digest is known."""
        key = str(path_of(blob.sha256))
        with self._speaking():
            if blob.bytes <= PART:
                obstore.put(self._store, key, file, use_multipart=False)
            elif self._size(key) != blob.bytes:
                self._put_parts(key, file)

    def lease(self, sha256: str) -> Lease:
        """The blob as a file of the cache."""

        def make(target: Path) -> None:
            self.fetch(sha256, target)

        return self._cache.get(f"{NAME}/{path_of(sha256)}", make)

    def fetch(self, sha256: str, target: Path) -> int:
        """Write the blob, verified, to the new file `target`."""
        key = str(path_of(sha256))
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._download(key, sha256, target)
            except (DamagedFile, StoreAway) as error:
                target.unlink(missing_ok=True)
                if attempt == ATTEMPTS or isinstance(error.__cause__, FileNotFoundError):
                    raise
                log.warning("a download is tried again", extra={"blob": sha256})
        raise AssertionError  # the last attempt raised

    def stage(self, upload: Upload, name: str) -> Blob:
        """Keep a file that may become a blob, or be dropped."""
        key = f"{STAGED}/{staged_name(name)}"

        def keep(path: Path, _: int, blob: Blob) -> bool:
            with self._speaking():
                if blob.bytes <= PART:
                    obstore.put(self._store, key, path, use_multipart=False)
                else:
                    self._put_parts(key, path)
            return False

        return upload.finish(keep)

    def promote(self, name: str, blob: Blob) -> None:
        """Make a blob of a staged file. Doing it again changes nothing."""
        key = str(path_of(blob.sha256))
        with self._speaking():
            with contextlib.suppress(FileNotFoundError):
                obstore.copy(self._store, f"{STAGED}/{staged_name(name)}", key)
            if self._size(key) != blob.bytes:
                raise DamagedFile(f"The store {self.name} has lost the staged file {name}.")
            obstore.delete(self._store, f"{STAGED}/{name}")

    def discard(self, name: str) -> None:
        """Remove a staged file, if it is there."""
        with self._speaking():
            obstore.delete(self._store, f"{STAGED}/{staged_name(name)}")

    def check(self) -> None:
        """Write an object and read it again.

        Raises:
            BadSettings: the bucket is not there, or these credentials may not use it.
            StoreAway: the store does not answer.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                self._refusing_what_is_no_bucket()
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
        """Remove what uploads of dead processes left on this machine; says how many files."""
        self._cache.sweep()
        return self._spool.sweep()

    def _keep(self, path: Path, _: int, blob: Blob) -> bool:
        self.put_file(path, blob)
        # Whoever grades it here, or looks at it, has no need to fetch it.
        self._cache.add(f"{NAME}/{path_of(blob.sha256)}", path)
        return True

    def _put_parts(self, key: str, file: Path) -> None:
        obstore.put(
            self._store, key, file, use_multipart=True, chunk_size=PART, max_concurrency=PARTS
        )

    def _size(self, key: str) -> int | None:
        try:
            return obstore.head(self._store, key)["size"]
        except FileNotFoundError:
            return None

    def _download(self, key: str, sha256: str, target: Path) -> int:
        digest, size = hashlib.sha256(), 0
        with self._speaking(), target.open("xb") as out:
            for chunk in obstore.get(self._store, key).stream(CHUNK):
                digest.update(chunk)
                out.write(chunk)
                size += len(chunk)
        if digest.hexdigest() != sha256:
            raise DamagedFile(f"The store {self.name} has other bytes under {sha256}.")
        target.chmod(0o440)
        return size

    def _refusing_what_is_no_bucket(self) -> None:
        try:
            obstore.get(self._store, PROBE)
        except FileNotFoundError as error:
            if NO_BUCKET in str(error):
                raise BadSettings(
                    f"There is no bucket for {self.name} (PODIUM_BLOBS_URL): make it, or mend the "
                    "URL. Podium makes no buckets."
                ) from None
            raise

    def _read_only(self, error: Exception) -> BadSettings | None:
        """What is to be said of a store that answers, and yet takes nothing."""
        try:
            obstore.get(self._store, PROBE)
        except FileNotFoundError:
            pass
        except BaseError:
            return None
        return BadSettings(
            f"The store {self.name} (PODIUM_BLOBS_URL) can be read and not written: "
            f"{_reason(error)}. Podium has to write there."
        )

    @contextlib.contextmanager
    def _speaking(self) -> Iterator[None]:
        """Say in our words what the store does wrong."""
        try:
            yield
        except FileNotFoundError as error:
            if NO_BUCKET in str(error):  # taken away under us: nothing that a file is to blame for
                raise self._away(error) from error
            raise DamagedFile(f"The store {self.name} lacks a file: {_reason(error)}.") from error
        except BaseError as error:
            raise self._away(error) from error

    def _away(self, error: Exception) -> StoreAway:
        log.warning("the store of files is away", extra={"store": self.name,
                                                         "reason": _reason(error)})  # fmt: skip
        return StoreAway(f"The store of files, {self.name}, does not answer as it should.")


def _reason(error: Exception) -> str:
    """The first line of what the library says; the rest repeats it for programmers."""
    return str(error).split("\n", 1)[0].strip().rstrip(".:")
