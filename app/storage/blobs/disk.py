"""Blobs as files on this machine's disk, or on a file system that several machines share."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

from app.errors import BadSettings, DamagedFile, StoreAway
from app.regular_file import file_digest, read_regular
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.first_text import keep_first_text
from app.storage.blobs.lease import Lease
from app.storage.blobs.links import link_or_copy, replace_by_link
from app.storage.blobs.removal import DiskOldFiles, renew
from app.storage.blobs.store import STAGED, Blob, Upload, path_of, staged_name
from app.storage.blobs.upload import Spool, translate_disk_full
from app.storage.blobs.verify import verify_staged
from app.sync_directory import sync_directory
from app.system_limits import is_used_up
from app.units import CHUNK_BYTES

UPLOADS = "uploads"
STORE_FILE = "store"  # the identity of the store, see `services/operations/start_checks`
DIRECTORIES = frozenset(f"{number:02x}" for number in range(256))


class DiskBlobs:
    """Files `root/ab/cdef...`, named by their SHA-256. Unfinished uploads are in `root/uploads`.

    Several processes may share one root.
    """

    is_local = True

    def __init__(self, root: Path, reserve_percent: float = 0.0) -> None:
        self.root = root
        self.name = root.as_uri()
        self.staged = root / STAGED
        try:
            self._spool = Spool(root / UPLOADS, reserve_percent)
            self.staged.mkdir(exist_ok=True)
            # Make and sync all directories now. Storing a file then has to sync only one.
            with os.scandir(root) as entries:
                made = {entry.name for entry in entries if entry.is_dir()}
            for name in DIRECTORIES - made:
                (root / name).mkdir(exist_ok=True)
            sync_directory(root)
            self._identity = self._read_identity()
        except OSError as error:
            raise _unusable(root, error) from None

    def is_there(self) -> bool:
        """Whether the directory is still the one that this process found when it started."""
        with contextlib.suppress(OSError):
            return self._is_the_same()
        return False

    def require_there(self) -> None:
        """Refuse to store a file below the mount point of a disk that was unmounted.

        Raises:
            StoreAway: the directory is not the one that this process found when it started.
            OSError: the system gives no more open files.
        """
        if not self._is_the_same():
            raise StoreAway(
                "The directory of submitted files cannot be read, or is not the one that this "
                "process found when it started: is its disk mounted?"
            )

    @property
    def reserve(self) -> DiskReserve:
        """The part of the disk that uploads leave free."""
        return self._spool.reserve

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes arrive in pieces."""
        return self._spool.new_upload(self._keep)

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StorageFull: the disk is full.
        """
        with self.new_upload() as upload:
            upload.write(data)
            return upload.finish()

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a synced file: as a hard link if the file system allows it, otherwise as a copy."""
        blob_path = self.path(blob.sha256)
        self.require_there()
        with translate_disk_full():
            if not renew_blob(blob_path, blob):
                self.reserve.require(blob.bytes)
                temporary = self._spool.directory / uuid.uuid4().hex
                if not replace_by_link(file, blob_path, temporary):
                    self._copy(file, blob)
            sync_directory(blob_path.parent)

    def lease(self, sha256: str, *, is_shown: bool = False) -> Lease:
        """The blob's file itself, because blobs are never removed."""
        return Lease(self.path(sha256))

    def fetch(self, sha256: str, target: Path) -> int:
        """Verify the blob and make `target` a hard link to it, or a copy. Returns its size."""
        blob_path = self.path(sha256)
        try:
            size, found = file_digest(blob_path)
        except FileNotFoundError:
            raise DamagedFile(f"The store {self.name} has no file {sha256}.") from None
        except OSError as error:
            if is_used_up(error):
                raise  # this says nothing about the file
            raise DamagedFile(
                f"The store {self.name} cannot read its file {sha256}: {error.strerror}."
            ) from None
        if found != sha256:
            raise DamagedFile(f"The store {self.name} has other bytes under {sha256}.")
        with translate_disk_full():
            link_or_copy(blob_path, target)
        return size

    def stage(self, upload: Upload, name: str) -> Blob:
        """Store a file that may later become a blob or be discarded."""
        staged_path = self.staged / staged_name(name)

        def keep(path: Path, descriptor: int, _: Blob) -> bool:
            self.require_there()
            os.fsync(descriptor)
            path.rename(staged_path)
            sync_directory(self.staged)
            return True

        return upload.finish(keep)

    def promote(self, name: str, blob: Blob) -> None:
        """Make a staged file a blob. A second call changes nothing."""
        self.require_there()
        blob_path, staged_path = self.path(blob.sha256), self.staged / staged_name(name)
        with contextlib.suppress(FileNotFoundError):
            # It may be an hour old and damaged, and would replace a right file of these bytes.
            verify_staged(staged_path, blob.sha256)
            staged_path.rename(blob_path)
        renew(blob_path)  # it was uploaded some time ago, and must not count as old
        if _size(blob_path) != blob.bytes:
            raise DamagedFile(f"The store {self.name} has lost the staged file {name}.")
        sync_directory(blob_path.parent)

    def discard(self, name: str) -> None:
        """Remove a staged file, if it exists."""
        (self.staged / staged_name(name)).unlink(missing_ok=True)

    def check(self) -> None:
        """Check that the directory can be written.

        Raises:
            BadSettings: the directory cannot be written.
            StoreAway: it is not the one that this process found when it started.
        """
        self.require_there()
        probe = self._spool.directory / f"probe-{uuid.uuid4().hex}"
        try:
            probe.write_bytes(b"podium")
            probe.unlink(missing_ok=True)  # a server that starts sweeps it too
        except OSError as error:
            raise _unusable(self.root, error) from None

    def keep_first(self, name: str, text: str) -> str:
        """Return the text of the file `name` in the root; create it with `text` if missing."""
        return keep_first_text(self.root / name, text)

    def old_files(self) -> DiskOldFiles:
        """The files that were not changed lately, and their removal."""
        return DiskOldFiles(self.root, self.staged)

    def sweep(self) -> int:
        """Remove the unfinished uploads of dead processes. Returns the number of files."""
        return self._spool.sweep()

    def path(self, sha256: str) -> Path:
        """The path of the blob, whether it exists or not.

        Raises:
            ValueError: `sha256` is not 64 lower-case hex digits.
        """
        blob_path = path_of(sha256)
        return self.root.joinpath(blob_path.directory, blob_path.file)

    def _is_the_same(self) -> bool:
        return self.staged.is_dir() and self._identity in (None, self._read_identity())

    def _read_identity(self) -> str | None:
        try:
            return read_regular(self.root / STORE_FILE).decode(errors="replace")
        except OSError as error:
            if is_used_up(error):  # this says nothing about the directory
                raise
            return None

    def _copy(self, file: Path, blob: Blob) -> None:
        with file.open("rb") as source, self.new_upload() as upload:
            while chunk := source.read(CHUNK_BYTES):
                upload.write(chunk)
            if upload.received() != blob:
                raise DamagedFile(f"The file {file} changed while it was stored.")
            upload.finish()

    def _keep(self, path: Path, descriptor: int, blob: Blob) -> bool:
        self.require_there()
        blob_path = self.path(blob.sha256)
        is_new = not renew_blob(blob_path, blob)  # missing, or damaged since it was stored
        if is_new:
            os.utime(descriptor)
            os.fsync(descriptor)
            path.rename(blob_path)
        # Also for an existing file: the process that stored it may not have synced it yet.
        sync_directory(blob_path.parent)
        return is_new


def renew_blob(path: Path, blob: Blob) -> bool:
    """Whether the file at this path has the blob's bytes; if so, it is renewed and not removed."""
    return renew(
        path, lambda file: _size(file) == blob.bytes and file_digest(file)[1] == blob.sha256
    )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _unusable(root: Path, error: OSError) -> BadSettings:
    needs = "Podium needs a directory that it can write to."
    return BadSettings(
        f"Files cannot be stored in {root} (PODIUM_BLOBS_URL): {error.strerror}. {needs}",
        for_strangers=f"Files cannot be stored: {error.strerror}. {needs}",
    )
