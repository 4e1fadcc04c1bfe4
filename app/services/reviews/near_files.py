"""Find recent files of other experiments whose predictions are nearly equal."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.review.likeness import NEAR_SHARE, Cells, near_shares
from app.storage.queries.reviews import sketches
from app.storage.queries.reviews.sketches import FileCells, GradedFile

MOST_FILES = 20_000  # the latest files of a version, of which those with numbers are compared
MOST_VERSIONS = 32  # kept in memory, 10 MB each at most
FILES_PER_QUERY = 2_000
MOST_LATER = 500  # the number of near files with larger numbers that are searched for


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """Files that are reviewed together in one session.

    `last` is the time of the review before this one. `probed` are the files' runs that have the
    signal of probing. `repeated` are the numbers of the files whose predictions another file of the
    version has. Turns never overlap, even on several servers.
    """

    files: Sequence[GradedFile]
    last: datetime
    probed: Set[str] = frozenset()
    repeated: Set[int] = frozenset()


@dataclass
class _Version:
    """A version's files and their numbers, nearly in the order in which they were graded."""

    files: list[FileCells] = field(default_factory=list)
    cells: Cells = field(default_factory=lambda: np.empty((0, 64), dtype="<f4"))
    last: int = 0  # the largest number of a file
    turn: Turn | None = None  # the turn for which it was last read

    def add(self, rows: Sequence[FileCells]) -> None:
        if not rows:
            return
        self.last = max(self.last, rows[-1].number)
        more = np.frombuffer(b"".join(row.cells for row in rows), dtype="<f4")
        self.cells = np.concatenate([self.cells, more.reshape(len(rows), -1)])[-MOST_FILES:]
        self.files = [*self.files, *rows][-MOST_FILES:]


@dataclass(frozen=True, slots=True)
class NearFile:
    """A file that is nearly equal, and the share of the compared numbers that are near."""

    file: FileCells
    share: float


class NearFiles:
    """The numbers of all versions' latest files. Only new files are read. For one thread."""

    def __init__(self) -> None:
        self._versions: LRUCache[int, _Version] = LRUCache(MOST_VERSIONS)

    def nearest(
        self, session: Session, one: GradedFile, cells: Cells, turn: Turn
    ) -> NearFile | None:
        """The nearest file of another experiment that was graded before, if it is near enough.

        A file with a larger number that was reviewed before counts too, because this one was
        committed later, so that the other one was not compared with it.
        """
        version = self._read(session, one.version_id, turn)
        shares = near_shares(cells, version.cells)
        found = np.flatnonzero(shares >= NEAR_SHARE)
        found = found[np.argsort(-shares[found], kind="stable")]
        near = [
            NearFile(version.files[at], float(shares[at]))
            for at in found.tolist()
            if version.files[at].experiment != one.experiment
        ]
        later = [each.file.submission for each in near if each.file.number > one.number]
        before = sketches.reviewed_among(session, later[:MOST_LATER])
        for each in near:
            if each.file.number < one.number or each.file.submission in before:
                return each
        return None

    def _read(self, session: Session, version_id: int, turn: Turn) -> _Version:
        """A version's files as they are in the session of a turn.

        A file gets its number when its row is inserted, and its row becomes visible when it is
        committed, so of two processes that grade, the one that commits first may have the larger
        number. A file that was committed late was reviewed since the previous turn, or waits and is
        in this turn if a file with a larger number is.
        """
        version = self._versions.get(version_id)
        if version is not None and version.turn is turn:
            return version
        if version is None:
            # SQLite sorts all later rows for each query, so older files would make each slower.
            version = _Version(last=sketches.before_latest(session, version_id, MOST_FILES))
        else:
            since = version.turn.last if version.turn else sketches.NEVER
            late = sketches.late_cells(session, version_id, version.last, since)
            late += [
                FileCells(one.number, one.submission, one.run, one.experiment, one.agent, one.cells)
                for one in turn.files
                if one.version_id == version_id and one.number <= version.last and one.cells
            ]
            known = {file.number for file in version.files}
            version.add([row for row in late if row.number not in known])
        while True:
            rows = sketches.cells_after(session, version_id, version.last, FILES_PER_QUERY)
            version.add(rows)
            if len(rows) < FILES_PER_QUERY:
                version.turn = turn
                self._versions[version_id] = version  # only if all was read
                return version
