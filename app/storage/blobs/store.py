"""The interface of blob stores. A blob is named by its SHA-256 and never changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.storage.blobs.lease import Lease
from app.storage.blobs.unreferenced import OldFiles
from app.storage.blobs.upload import Blob, Upload

DIGEST = re.compile(r"[0-9a-f]{64}")
STAGED = "held"  # the directory of staged files, or the first part of their keys in S3
STAGED_NAME = re.compile(r"[0-9a-z]{1,64}")

__all__ = ["Blob", "BlobPath", "BlobStore", "Upload", "path_of"]


class BlobStore(Protocol):
    """A store of submitted files and of the files of competition versions.

    When a method returns, the file is stored durably: it survives a crash of any machine. Several
    processes may share one store. A method raises `StoreAway` if the store is on another machine
    and cannot be reached; nothing was stored then.
    """

    @property
    def name(self) -> str:
        """The store's URL, without credentials."""

    @property
    def is_local(self) -> bool:
        """Whether the files are on this machine's disks, so that a lease needs no copy."""

    def is_there(self) -> bool:
        """Whether the store is there. A file missing in an unmounted directory is not lost."""

    def new_upload(self) -> Upload:
        """Begin to store a file whose bytes arrive in pieces."""

    def put(self, data: bytes) -> Blob:
        """Store bytes.

        Raises:
            StorageFull: the disk is full.
        """

    def put_file(self, file: Path, blob: Blob) -> None:
        """Store a synced file of this machine whose digest is known."""

    def lease(self, sha256: str, *, is_shown: bool = False) -> Lease:
        """The blob as a file on this machine, for as long as the lease is open.

        With `is_shown` it is for a client, who must not notice whether a grading has fetched it.

        Raises:
            DamagedFile: the store has lost or damaged it.
        """

    def fetch(self, sha256: str, target: Path) -> int:
        """Write the verified blob to the new file `target`. Returns its size in bytes.

        Raises:
            DamagedFile: the store has lost or damaged it.
        """

    def stage(self, upload: Upload, name: str) -> Blob:
        """Store a file that may later become a blob or be discarded."""

    def promote(self, name: str, blob: Blob) -> None:
        """Make a staged file a blob. A second call changes nothing."""

    def discard(self, name: str) -> None:
        """Remove a staged file, if it exists."""

    def check(self) -> None:
        """Check that the store can be written and read.

        Raises:
            BadSettings: the store answers but cannot be used; gives the reason.
        """

    def keep_first(self, name: str, text: str) -> str:
        """Return the text that the store has under a name; create it with `text` if missing."""

    def old_files(self) -> OldFiles:
        """The files that were not changed lately, and their removal."""

    def sweep(self) -> int:
        """Remove the unfinished uploads of dead processes on this machine; returns their number."""


@dataclass(frozen=True, slots=True)
class BlobPath:
    """The path of a blob in a store: a directory of the digest's first two digits, and a file."""

    directory: str
    file: str

    def __str__(self) -> str:
        """Both, as a key of an object store."""
        return f"{self.directory}/{self.file}"


def path_of(sha256: str) -> BlobPath:
    """The path of a blob in a store.

    >>> str(path_of("ab" * 32))[:8]
    'ab/ababa'

    Raises:
        ValueError: `sha256` is not 64 lower-case hex digits.
    """
    if not DIGEST.fullmatch(sha256):
        raise ValueError("a blob is named by the 64 hex digits of its SHA-256")
    return BlobPath(sha256[:2], sha256[2:])


def staged_name(name: str) -> str:
    """Return the name of a staged file after checking that it has no other path in it.

    Raises:
        ValueError: it has characters other than lower-case letters and digits.
    """
    if not STAGED_NAME.fullmatch(name):
        raise ValueError("the name of a staged file has only lower-case letters and digits")
    return name
