"""Competition versions, read once each: a version never changes, so nothing goes stale."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from cachetools import LRUCache

from app.domain.competition import Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.domain.read_leaderboard import FILE, leaderboard_of
from app.domain.suites import parse_suites
from app.errors import NotFound
from app.importers.folder import DESCRIPTION
from app.services.runtime.version_files import VersionFiles
from app.storage.database.database import Database
from app.storage.database.records import VersionRecord
from app.storage.queries import competitions

CACHED_VERSIONS = 256


@dataclass(frozen=True)
class CatalogueEntry:
    """One version of a competition: its record, what it declares, its human board and its task."""

    version: VersionRecord
    competition: Competition
    leaderboard: Leaderboard | None
    description: str | None


class Catalogue:
    """Reads versions' declarations and boards, and keeps the latest used in memory.

    `files` has what else there is of a version.
    """

    def __init__(self, files: VersionFiles, competitions_dir: Path, database: Database) -> None:
        self.files = files
        self._database = database
        self._suites_file = competitions_dir / "suites.toml"
        self._lock = threading.Lock()
        self._entries: LRUCache[int, CatalogueEntry] = LRUCache(CACHED_VERSIONS)
        self._versions: LRUCache[int, VersionRecord] = LRUCache(CACHED_VERSIONS)

    def of_version(self, version_id: int) -> CatalogueEntry:
        """The version with this id, which a run or a submission names."""
        return self.entry(self.version(version_id))

    def version(self, version_id: int) -> VersionRecord:
        """The record alone of the version with this id; no file is needed for it."""
        with self._lock:
            known = self._versions.get(version_id)
        if known is not None:
            return known
        with self._database.read() as session:
            version = competitions.version_by_id(session, version_id)
        if version is None:
            raise NotFound(f"There is no competition version {version_id}.")
        with self._lock:
            self._versions[version_id] = version
        return version

    def entry(self, version: VersionRecord) -> CatalogueEntry:
        """The version's competition and leaderboard."""
        with self._lock:
            found = self._entries.get(version.id)
        if found is not None:
            return found
        competition = parse_competition(version.slug, version.toml)
        with self.files.lease(version, answers=False) as lease:
            board = leaderboard_of(competition, _text(lease.path / FILE))
            description = _text(lease.path / DESCRIPTION)
        entry = CatalogueEntry(version, competition, board, description)
        with self._lock:
            self._entries[version.id] = entry
        return entry

    def suites(self) -> dict[str, tuple[str, ...]]:
        """The named suites: suite to slugs. Empty where no `suites.toml` is there."""
        if not self._suites_file.is_file():
            return {}
        return parse_suites(self._suites_file.read_text(encoding="utf-8"))

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


def _text(file: Path) -> str | None:
    return file.read_text("utf-8") if file.is_file() else None
