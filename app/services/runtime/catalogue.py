"""A cache of competition versions, which never change.

After a lost import a standby may give a version's id to another version. So records are cached by
id and the database's `losses`. Values made from a record are cached by the record's content,
because a caller may have read the record before the loss.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cachetools import LRUCache, cachedmethod

from app.domain.competition import BYTE_ORDER_MARK, Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.domain.read_leaderboard import FILE, leaderboard_of
from app.domain.suites import parse_suites
from app.errors import BadCompetition, NotFound
from app.importers.folder import DESCRIPTION
from app.importers.names import problem
from app.services.runtime.public_files import PublicFilesOfVersions
from app.services.runtime.version_files import VersionFiles, VersionKey, version_key
from app.storage.database.database import Database
from app.storage.database.records import VersionRecord
from app.storage.queries import competitions

CACHED_VERSIONS = 256


@dataclass(frozen=True)
class CatalogueEntry:
    """One version of a competition: record, declaration, human leaderboard and task description."""

    version: VersionRecord
    competition: Competition
    leaderboard: Leaderboard | None
    description: str | None


class Catalogue:
    """Reads competition versions and keeps the most recently used ones in memory.

    `files` gives access to the files of a version, `public_files` to their list for agents.
    """

    def __init__(self, files: VersionFiles, competitions_dir: Path, database: Database) -> None:
        self.files = files
        self.public_files = PublicFilesOfVersions(database)
        self._database = database
        self._suites_file = competitions_dir / "suites.toml"
        # The file's text, and the suites parsed from it.
        self._suites: tuple[str, Mapping[str, tuple[str, ...]]] = ("", {})
        self._lock = threading.Lock()
        self._entries: LRUCache[VersionKey, CatalogueEntry] = LRUCache(CACHED_VERSIONS)
        self._versions: LRUCache[tuple[int, int], VersionRecord] = LRUCache(CACHED_VERSIONS)
        self._declarations: LRUCache[VersionKey, Competition] = LRUCache(CACHED_VERSIONS)

    def of_version(self, version_id: int) -> CatalogueEntry:
        """The catalogue entry of the version with this id."""
        return self.entry(self.version(version_id))

    def has(self, version_id: int) -> bool:
        """Whether `of_version` finds it in memory, without reading files or the database."""
        with self._lock:
            known = self._versions.get((self._database.losses, version_id))
            return known is not None and version_key(known) in self._entries

    def version(self, version_id: int) -> VersionRecord:
        """The record of the version with this id. Reads no file.

        Raises:
            NotFound: no version has this id.
        """
        key = self._database.losses, version_id
        with self._lock:
            known = self._versions.get(key)
        if known is not None:
            return known
        with self._database.read() as session:
            version = competitions.version_by_id(session, version_id)
        if version is None:
            raise NotFound(f"There is no competition version {version_id}.")
        with self._lock:
            self._versions[key] = version
        return version

    def declaration(self, version_id: int) -> Competition:
        """The content of a version's competition.toml. Reads no file.

        Raises:
            NotFound: no version has this id.
        """
        return self._declaration(self.version(version_id))

    def entry(self, version: VersionRecord) -> CatalogueEntry:
        """The catalogue entry of a version."""
        key = version_key(version)
        with self._lock:
            found = self._entries.get(key)
        if found is not None:
            return found
        competition = self._declaration(version)
        with self.files.lease(version, answers=False) as lease:
            board = leaderboard_of(competition, _read_text(lease.path / FILE))
            description = _read_text(lease.path / DESCRIPTION)
            if description is not None:
                description = description.removeprefix(BYTE_ORDER_MARK)
        entry = CatalogueEntry(version, competition, board, description)
        with self._lock:
            self._entries[key] = entry
        return entry

    @cachedmethod(
        lambda self: self._declarations,
        key=lambda self, version: version_key(version),
        lock=lambda self: self._lock,
    )
    def _declaration(self, version: VersionRecord) -> Competition:
        return parse_competition(version.slug, version.toml)

    def suites(self) -> Mapping[str, tuple[str, ...]]:
        """The slugs of every suite, by the suite's name. Empty if there is no `suites.toml`.

        Raises:
            BadCompetition: the file is not valid.
        """
        # The file is read at each call, because it may change, and parsed only if its text is new.
        text = suites_text(self._suites_file)
        known, suites = self._suites
        if text != known:
            suites = MappingProxyType(parse_suites(text))
            self._suites = (text, suites)
        return suites

    def suite(self, name: str) -> tuple[str, ...]:
        """The slugs of one suite.

        Raises:
            NotFound: no suite has this name.
        """
        suites = self.suites()
        if name not in suites:
            known = ", ".join(sorted(suites)) or "none"
            raise NotFound(f"There is no suite {name!r}. Suites here: {known}.")
        return suites[name]


def suites_text(file: Path) -> str:
    """The text of a `suites.toml`; empty if there is none.

    Raises:
        BadCompetition: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else ""
    except FileNotFoundError:  # it is being replaced
        return ""
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start})"
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
    raise BadCompetition([problem(file.name, "", message)])


def _read_text(file: Path) -> str | None:
    return file.read_text("utf-8") if file.is_file() else None
