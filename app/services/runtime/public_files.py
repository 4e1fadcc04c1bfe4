"""A cache of the public files of competition versions: there may be hundreds of thousands.

Cache keys contain the database's `losses`, because after a lost import a standby may give the id to
another version.
"""

from __future__ import annotations

import hashlib
import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

from cachetools import LRUCache, cachedmethod
from pydantic_core import from_json, to_json

from app.storage.database.database import Database
from app.storage.queries import competitions

CACHED_BYTES = 64_000_000  # of all versions together; one version is kept in any case
BYTES_BESIDE = 1000  # memory of a version beside its JSON and two numbers for each file


class PublicFiles(Sequence[dict[str, Any]]):
    """The files of one version as `{name, bytes, sha256}`, by name. They never change.

    They are kept as `json`, which most answers contain: objects would take four times the memory.
    """

    def __init__(self, files: Iterable[Mapping[str, Any]]) -> None:
        text = bytearray(b"[")
        self._begins, names = array("Q"), []
        for file in files:
            self._begins.append(len(text))
            text += to_json(file) + b","
            names.append(file["name"])
        self._begins.append(len(text))
        self.json = bytes(text[:-1] if names else text) + b"]"
        self._by_name = array("Q", sorted(range(len(names)), key=names.__getitem__))

    def __len__(self) -> int:
        return len(self._by_name)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = range(len(self))[at]
        found: dict[str, Any] = from_json(
            self.json[self._begins[number] : self._begins[number + 1] - 1]
        )
        return found

    def find(self, name: str) -> dict[str, Any] | None:
        """The file of this name."""
        at = bisect_left(self._by_name, name, key=lambda number: self[number]["name"])
        if at == len(self) or (found := self[self._by_name[at]])["name"] != name:
            return None
        return found

    def part(self, begin: int, end: int) -> memoryview:
        """The JSON of files from one index up to another, joined by commas, without a copy."""
        if begin >= end:
            return memoryview(b"")
        return memoryview(self.json)[self._begins[begin] : self._begins[end] - 1]

    @property
    def size(self) -> int:
        """About the number of bytes of memory that it takes."""
        return len(self.json) + 16 * len(self) + BYTES_BESIDE

    @cached_property
    def digest(self) -> str:
        """A SHA-256 of names and contents."""
        digest = hashlib.sha256()
        for file in self:
            digest.update(f"{file['name']}\0{file['sha256']}\n".encode())
        return digest.hexdigest()


class PublicFilesOfVersions:
    """Reads the public files of versions, and caches the most recently used ones."""

    def __init__(self, database: Database, most_bytes: int = CACHED_BYTES) -> None:
        self._database = database
        self._reading = threading.Condition()  # one thread reads a list, others wait for it
        self._known: LRUCache[tuple[int, int], PublicFiles] = LRUCache(
            most_bytes, getsizeof=lambda files: min(files.size, most_bytes)
        )

    @cachedmethod(
        lambda self: self._known,
        key=lambda self, version_id: (self._database.losses, version_id),
        condition=lambda self: self._reading,
    )
    def of(self, version_id: int) -> PublicFiles:
        """The public files of the version with this id; none if there is no such version."""
        with self._database.read() as session:
            return PublicFiles(competitions.public_files(session, version_id))
