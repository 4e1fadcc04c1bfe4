"""The public files of a competition version: hundreds of thousands, so they are read once."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cachetools import LRUCache, cachedmethod
from pydantic_core import to_json

from app.storage.database.database import Database
from app.storage.queries import competitions

CACHED_FILES = 1_000_000  # of all versions together; one version is kept in any case


@dataclass(frozen=True)
class PublicFiles:
    """The files of one version as `{name, bytes, sha256}`, by name. They never change."""

    rows: list[dict[str, Any]]

    @cached_property
    def by_name(self) -> dict[str, dict[str, Any]]:
        """The files by their names."""
        return {file["name"]: file for file in self.rows}

    @cached_property
    def json(self) -> bytes:
        """The list as JSON, for answers that have it whole."""
        return to_json(self.rows)

    @cached_property
    def digest(self) -> str:
        """A SHA-256 of names and contents."""
        digest = hashlib.sha256()
        for file in self.rows:
            digest.update(f"{file['name']}\0{file['sha256']}\n".encode())
        return digest.hexdigest()


class PublicFilesOfVersions:
    """Reads the public files of versions, and keeps those that were asked for last."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = threading.Condition()  # one thread reads a list, others wait for it
        self._known: LRUCache[int, PublicFiles] = LRUCache(
            CACHED_FILES, getsizeof=lambda files: min(len(files.rows) + 1, CACHED_FILES)
        )

    @cachedmethod(
        lambda self: self._known,
        key=lambda self, version_id: version_id,
        condition=lambda self: self._reading,
    )
    def of(self, version_id: int) -> PublicFiles:
        """The public files of the version with this id; none where there is no such version."""
        with self._database.read() as session:
            return PublicFiles(competitions.public_files(session, version_id))
