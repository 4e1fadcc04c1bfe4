"""Stored files, once per content under their SHA-256, never changed: what every store offers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.storage.blobs.lease import Lease
from app.storage.blobs.upload import Blob, Upload

DIGEST = re.compile(r"[0-9a-f]{64}")
STAGED_NAME = re.compile(r"[0-9a-z]{1,64}")

__all__ = ["Blob", "BlobPath", "BlobStore", "Upload", "path_of"]


class BlobStore(Protocol):
    """Where submitted files and the files of competition versions are kept.

    What a method returns from is stored for good: it outlives a crash of any machine. Several
    processes may share one store. Every method that needs a store on another machine raises
    `StoreAway` while that cannot be reached; nothing was stored then.
    """

    @property
    def name(self) -> str:
        """The store's URL, without credentials."""

    @property
    def is_local(self) -> bool:
        """Whether files lie on this machine's disks, so that a lease costs nothing."""

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes come in pieces."""

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StorageFull: the disk takes no more.
        """

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a file of this machine, synced already, whose digest is known."""

    def lease(self, sha256: str) -> Lease:
        """The blob as a file on this machine, for as long as the lease is open.

        Raises:
            DamagedFile: the store has lost or damaged it.
        """

    def fetch(self, sha256: str, target: Path) -> int:
        """Write the blob, verified, to the new file `target`; says how many bytes it has.

        Raises:
            DamagedFile: the store has lost or damaged it.
        """

    def stage(self, upload: Upload, name: str) -> Blob:
        """Keep a file that may become a blob, or be dropped."""

    def promote(self, name: str, blob: Blob) -> None:
        """Make a blob of a staged file. Doing it again changes nothing."""

    def discard(self, name: str) -> None:
        """Remove a staged file, if it is there."""

    def check(self) -> None:
        """Write something and read it again.

        Raises:
            BadSettings: the store is there, and not one that can be used; says why.
        """

    def sweep(self) -> int:
        """Remove what uploads of dead processes left on this machine; says how many files."""


@dataclass(frozen=True, slots=True)
class BlobPath:
    """Where a blob lies in a store: below a directory of the digest's first two digits."""

    directory: str
    file: str

    def __str__(self) -> str:
        """Both, as a key of an object store."""
        return f"{self.directory}/{self.file}"


def path_of(sha256: str) -> BlobPath:
    """Where the blob lies, or would lie.

    >>> str(path_of("ab" * 32))[:8]
    'ab/ababa'

    Raises:
        ValueError: `sha256` is not 64 lower-case hex digits.
    """
    if not DIGEST.fullmatch(sha256):
        raise ValueError("a blob is named by the 64 hex digits of its SHA-256")
    return BlobPath(sha256[:2], sha256[2:])


def staged_name(name: str) -> str:
    """The name of a staged file, once it was checked that it leads nowhere else.

    Raises:
        ValueError: it has other characters than small letters and digits.
    """
    if not STAGED_NAME.fullmatch(name):
        raise ValueError("a staged file is named by small letters and digits")
    return name
