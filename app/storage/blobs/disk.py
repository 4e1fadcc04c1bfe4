"""Blobs as files of this machine, or of a file system that several machines share."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from pathlib import Path

from app.errors import BadSettings, DamagedFile
from app.file_digest import file_digest
from app.storage.blobs.lease import Lease
from app.storage.blobs.store import Blob, Upload, path_of, staged_name
from app.storage.blobs.upload import Spool, translate_disk_full

UPLOADS = "uploads"
STAGED = "held"
CHUNK = 1 << 20
NO_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES})


class DiskBlobs:
    """Files under `root/ab/cdef...`, named by their SHA-256; uploads under way in `root/uploads`.

    Several processes may share one root.
    """

    is_local = True

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = root.as_uri()
        self._held = root / STAGED
        try:
            self._spool = Spool(root / UPLOADS)
            self._held.mkdir(exist_ok=True)
            # All directories are made and synced now: storing a file has to sync only one then.
            for number in range(256):
                (root / f"{number:02x}").mkdir(exist_ok=True)
            sync_directory(root)
        except OSError as error:
            raise _unusable(root, error) from None

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes come in pieces."""
        return self._spool.new_upload(self._keep)

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StorageFull: the disk takes no more.
        """
        with self.new_upload() as upload:
            upload.write(data)
            return upload.finish()

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a file, synced already, as a second name of it where the system allows that."""
        place = self.path(blob.sha256)
        with translate_disk_full():
            if _size(place) != blob.bytes:
                beside = self._spool.directory / uuid.uuid4().hex
                link_or_copy(file, beside)
                beside.chmod(0o440)
                beside.rename(place)
            sync_directory(place.parent)

    def lease(self, sha256: str) -> Lease:
        """The blob itself: it is never removed."""
        return Lease(self.path(sha256))

    def fetch(self, sha256: str, target: Path) -> int:
        """Make `target` a second name of the blob, or a copy, once the bytes were verified."""
        place = self.path(sha256)
        try:
            size, found = file_digest(place)
        except FileNotFoundError:
            raise DamagedFile(f"The store {self.name} has no file {sha256}.") from None
        if found != sha256:
            raise DamagedFile(f"The store {self.name} has other bytes under {sha256}.")
        with translate_disk_full():
            link_or_copy(place, target)
        return size

    def stage(self, upload: Upload, name: str) -> Blob:
        """Keep a file that may become a blob, or be dropped."""
        place = self._held / staged_name(name)

        def keep(path: Path, descriptor: int, _: Blob) -> bool:
            os.fsync(descriptor)
            path.rename(place)
            sync_directory(self._held)
            return True

        return upload.finish(keep)

    def promote(self, name: str, blob: Blob) -> None:
        """Make a blob of a staged file. Doing it again changes nothing."""
        place = self.path(blob.sha256)
        with contextlib.suppress(FileNotFoundError):
            (self._held / staged_name(name)).rename(place)
        if _size(place) != blob.bytes:
            raise DamagedFile(f"The store {self.name} has lost the staged file {name}.")
        sync_directory(place.parent)

    def discard(self, name: str) -> None:
        """Remove a staged file, if it is there."""
        (self._held / staged_name(name)).unlink(missing_ok=True)

    def check(self) -> None:
        """Write something.

        Raises:
            BadSettings: the directory cannot be written.
        """
        probe = self._spool.directory / f"probe-{uuid.uuid4().hex}"
        try:
            probe.write_bytes(b"podium")
            probe.unlink()
        except OSError as error:
            raise _unusable(self.root, error) from None

    def sweep(self) -> int:
        """Remove what uploads of dead processes left behind; says how many files."""
        return self._spool.sweep()

    def path(self, sha256: str) -> Path:
        """Where the blob lies, or would lie.

        Raises:
            ValueError: `sha256` is not 64 lower-case hex digits.
        """
        place = path_of(sha256)
        return self.root / place.directory / place.file

    def _keep(self, path: Path, descriptor: int, blob: Blob) -> bool:
        place = self.path(blob.sha256)
        is_new = _size(place) != blob.bytes  # absent, or cut short by something that was not us
        if is_new:
            os.fsync(descriptor)
            path.rename(place)
        # Also for one that was there: whoever put it there may not have synced it yet.
        sync_directory(place.parent)
        return is_new


def sync_directory(path: Path) -> None:
    """Make the names in a directory outlive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def link_or_copy(file: Path, target: Path) -> None:
    """Give a file that never changes a second name; where that cannot be, copy it, synced."""
    try:
        os.link(file, target)
    except OSError as error:
        if error.errno not in NO_LINK:
            raise
        with file.open("rb") as source, target.open("xb") as out:
            while chunk := source.read(CHUNK):
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _unusable(root: Path, error: OSError) -> BadSettings:
    return BadSettings(
        f"Files cannot be stored in {root} (PODIUM_BLOBS_URL): {error.strerror}. Podium needs a "
        "directory that it may write."
    )
