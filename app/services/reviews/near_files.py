"""Find files of other experiments whose predictions are nearly equal, among those sent lately."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.review.likeness import NEAR_SHARE, Cells, near_shares
from app.storage.queries.reviews import sketches
from app.storage.queries.reviews.sketches import FileCells, GradedFile

MOST_FILES = 20_000  # compared with, of one version: the latest
MOST_VERSIONS = 32  # kept in memory, 10 MB each at most
FILES_PER_QUERY = 2_000
# A file's number is given when its row is inserted, and its row is seen when it is committed: of
# two processes that grade, the one that commits first may have the larger number.
MOST_LATER = 500  # near files with larger numbers that are asked for
LATE_NUMBERS, LATE_SECONDS = 10_000, 2.0  # how far back late files are looked for, and how often


@dataclass
class _Version:
    """A version's files and their numbers, nearly in the order in which they were graded."""

    files: list[FileCells] = field(default_factory=list)
    cells: Cells = field(default_factory=lambda: np.empty((0, 64), dtype="<f4"))
    last: int = 0  # the largest number of a file
    looked_at: float = field(default_factory=time.monotonic)  # for late files

    def add(self, rows: Sequence[FileCells]) -> None:
        if not rows:
            return
        self.last = max(self.last, rows[-1].number)
        more = np.frombuffer(b"".join(row.cells for row in rows), dtype="<f4")
        self.cells = np.concatenate([self.cells, more.reshape(len(rows), -1)])[-MOST_FILES:]
        self.files = [*self.files, *rows][-MOST_FILES:]


@dataclass(frozen=True, slots=True)
class NearFile:
    """A file that is nearly equal: the share of the compared numbers that are near."""

    file: FileCells
    share: float


class NearFiles:
    """The numbers of all versions' latest files. Only what is new is read. For one thread."""

    def __init__(self) -> None:
        self._versions: LRUCache[int, _Version] = LRUCache(MOST_VERSIONS)

    def nearest(self, session: Session, one: GradedFile, cells: Cells) -> NearFile | None:
        """The file of another experiment, graded before, that is most like this one, if near.

        A file with a larger number that was reviewed before counts too: this one was committed
        later, and that one was not compared with it.
        """
        version = self._read(session, one.version_id)
        shares = near_shares(cells, version.cells)
        near = [
            NearFile(version.files[at], float(shares[at]))
            for at in np.argsort(-shares, kind="stable").tolist()
            if shares[at] >= NEAR_SHARE and version.files[at].experiment != one.experiment
        ]
        later = [each.file.submission for each in near if each.file.number > one.number]
        before = sketches.reviewed_among(session, later[:MOST_LATER])
        for each in near:
            if each.file.number < one.number or each.file.submission in before:
                return each
        return None

    def _read(self, session: Session, version_id: int) -> _Version:
        version = self._versions.get(version_id)
        if version is None:
            version = self._versions[version_id] = _Version()
        after, known = version.last, set[int]()
        if time.monotonic() - version.looked_at >= LATE_SECONDS:
            version.looked_at = time.monotonic()
            after = max(0, after - LATE_NUMBERS)
            known = {file.number for file in version.files}
        while True:
            rows = sketches.cells_after(session, version_id, after, FILES_PER_QUERY)
            version.add([row for row in rows if row.number not in known])
            if len(rows) < FILES_PER_QUERY:
                return version
            after = rows[-1].number
