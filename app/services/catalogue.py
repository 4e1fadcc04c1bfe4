"""Competition versions on disk, read once each: a version never changes, so nothing goes stale."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from app.domain.board import FILE, board_of
from app.domain.competition import Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.domain.suites import parse_suites
from app.errors import NotFound
from app.storage import competitions
from app.storage.database import Database
from app.storage.records import VersionRecord

CACHED_VERSIONS = 256


@dataclass(frozen=True)
class Entry:
    """One version of a competition: its record, what it declares, and its human board."""

    version: VersionRecord
    competition: Competition
    leaderboard: Leaderboard | None
    directory: Path


class Catalogue:
    """Reads version directories `<root>/<slug>/<hash>/` and keeps the latest used in memory."""

    def __init__(self, root: Path, competitions_dir: Path, database: Database) -> None:
        self.root = root
        self._database = database
        self._suites_file = competitions_dir / "suites.toml"
        self._lock = threading.Lock()
        self._entries: OrderedDict[int, Entry] = OrderedDict()

    def directory(self, slug: str, content_hash: str) -> Path:
        """Where a version's files lie. Slug and hash were checked when the version was made."""
        return self.root / slug / content_hash[:32]

    def of_version(self, version_id: int) -> Entry:
        """The version with this id, which a run or a submission names."""
        with self._lock:
            known = self._entries.get(version_id)
        if known is not None:
            return known
        with self._database.read() as session:
            version = competitions.version_by_id(session, version_id)
        if version is None:
            raise NotFound(f"There is no competition version {version_id}.")
        return self.entry(version)

    def entry(self, version: VersionRecord) -> Entry:
        """The version's competition and leaderboard."""
        with self._lock:
            found = self._entries.get(version.id)
            if found is not None:
                self._entries.move_to_end(version.id)
                return found
        directory = self.directory(version.slug, version.content_hash)
        competition = parse_competition(version.slug, version.toml)
        file = directory / FILE
        board = board_of(competition, file.read_text("utf-8") if file.is_file() else None)
        entry = Entry(version, competition, board, directory)
        with self._lock:
            self._entries[version.id] = entry
            while len(self._entries) > CACHED_VERSIONS:
                self._entries.popitem(last=False)
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
