"""The old objects of an S3 store, and their removal.

S3 has no locks, and not every server has conditional deletes: an object may be written again
between the check of it and its removal. So a removed blob is first moved to another key, where it
can still be read, and it is moved back if a row names it. If no row names it within the age that a
file must have to be removed, it is deleted permanently.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from math import inf

import obstore
from obstore.store import S3Store

from app.errors import StoreAway
from app.storage.blobs.s3_connection import translated_errors
from app.storage.blobs.store import DIGEST, STAGED, path_of
from app.storage.blobs.unreferenced import OldFile

REMOVED = "removed"  # blobs that were moved
MOST_COPIED = 5 << 30  # bytes: S3 copies no larger object in one request, so larger ones stay
Listed = tuple[str, int]  # a key, and the size of its object


def removed_key(sha256: str) -> str:
    """The key to which a removed blob is moved."""
    return f"{REMOVED}/{path_of(sha256)}"


def not_as_said(name: str, what: str = "does not copy what it says it does") -> StoreAway:
    """The error for a store that did not do what its answer, or that of a proxy, says."""
    return StoreAway(f"The store {name} {what}.", for_strangers=f"The store of files {what}.")


class S3OldFiles:
    """The objects of a store whose URL is `name`."""

    def __init__(self, store: S3Store, name: str) -> None:
        self._store = store
        self._name = name

    def now(self) -> float:
        """The time by this machine's clock. S3 refuses clocks that are wrong by an hour."""
        return time.time()

    def blobs(self, before: float) -> Iterator[OldFile]:
        """The old blobs, in ascending order of their digests."""
        for number in range(256):
            for key, size in self._listed(f"{number:02x}", before):
                digest = key.replace("/", "")
                if DIGEST.fullmatch(digest) and size <= MOST_COPIED:
                    yield OldFile(digest, False, f"{self._name}/{key}", size)

    def staged(self, before: float) -> Iterator[OldFile]:
        """The old staged files, sorted by name."""
        for key, size in self._listed(STAGED, before):
            yield OldFile(key.removeprefix(f"{STAGED}/"), True, f"{self._name}/{key}", size)

    def remove(self, file: OldFile, before: float) -> bool:
        """Remove an object that was not written since `before`; a blob is moved first."""
        key = f"{STAGED}/{file.name}" if file.is_staged else str(path_of(file.name))
        with translated_errors(self._name):
            try:
                if self._written_at(key) >= before:
                    return False
                if not file.is_staged:
                    self._copy(key, removed_key(file.name))
            except FileNotFoundError:
                return False
            obstore.delete(self._store, key)
        return True

    def settle(self, named: Iterable[str], before: float) -> None:
        """Move back blobs that a row names; delete those that were moved before `before`."""
        remaining = iter(named)
        current = next(remaining, None)
        for key in self._aside():
            digest = key.removeprefix(f"{REMOVED}/").replace("/", "")
            while current is not None and current < digest:
                current = next(remaining, None)
            # Another server may do this at the same time, and may have removed it.
            with translated_errors(self._name), contextlib.suppress(FileNotFoundError):
                if current == digest and not self._exists(str(path_of(digest))):
                    self._copy(key, str(path_of(digest)))
                if self._written_at(key) < before:
                    obstore.delete(self._store, key)

    def _copy(self, source: str, target: str) -> None:
        """Copy an object, and check that the copy exists before the original is deleted.

        Raises:
            StoreAway: what is in front of the store said that it was copied.
        """
        obstore.copy(self._store, source, target)
        if not self._exists(target):
            raise not_as_said(self._name)

    def _exists(self, key: str) -> bool:
        try:
            obstore.head(self._store, key)
        except FileNotFoundError:
            return False
        return True

    def _aside(self) -> Iterator[str]:
        for number in range(256):
            for key, _ in self._listed(f"{REMOVED}/{number:02x}"):
                if DIGEST.fullmatch(key.removeprefix(f"{REMOVED}/").replace("/", "")):
                    yield key

    def _written_at(self, key: str) -> float:
        return obstore.head(self._store, key)["last_modified"].timestamp()

    def _listed(self, prefix: str, before: float = inf) -> list[Listed]:
        """The objects below a prefix that were written before then, sorted by key."""
        with translated_errors(self._name):
            found = [
                (each["path"], each["size"])
                for chunk in obstore.list(self._store, prefix=prefix)
                for each in chunk
                if each["last_modified"].timestamp() < before
            ]
        return sorted(found)
