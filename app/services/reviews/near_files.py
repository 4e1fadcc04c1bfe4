"""Find files of other experiments whose predictions are nearly equal, among those sent lately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.review.likeness import NEAR_SHARE, Cells, near_shares
from app.storage.queries.reviews import sketches
from app.storage.queries.reviews.sketches import GradedFile

MOST_FILES = 20_000  # compared with, of one version: the latest
MOST_VERSIONS = 32  # kept in memory, 10 MB each at most
AT_ONCE = 2_000


@dataclass
class _Version:
    """The numbers of a version's files, in the order in which they were sent."""

    last: str = ""
    files: list[tuple[str, str, str, str]] = field(default_factory=list)
    cells: Cells = field(default_factory=lambda: np.empty((0, 64), dtype="<f4"))


@dataclass(frozen=True, slots=True)
class NearFile:
    """A file that is nearly equal: its submission, run, experiment and agent.

    `share` is the share of the compared numbers that are near.
    """

    submission: str
    run: str
    experiment: str
    agent: str
    share: float


class NearFiles:
    """The numbers of all versions' latest files. Only what is new is read. For one thread."""

    def __init__(self) -> None:
        self._versions: LRUCache[int, _Version] = LRUCache(MOST_VERSIONS)

    def nearest(self, session: Session, one: GradedFile, cells: Cells) -> NearFile | None:
        """The earlier file of another experiment that is most like this one, if it is near."""
        version = self._read(session, one.version_id)
        if not version.files:
            return None
        shares = near_shares(cells, version.cells)
        for at in np.argsort(-shares, kind="stable").tolist():
            if shares[at] < NEAR_SHARE:
                return None
            submission, run, experiment, agent = version.files[at]
            if experiment != one.experiment and submission < one.submission:
                return NearFile(submission, run, experiment, agent, float(shares[at]))
        return None

    def _read(self, session: Session, version_id: int) -> _Version:
        version = self._versions.get(version_id)
        if version is None:
            version = self._versions[version_id] = _Version()
        while rows := sketches.cells_after(session, version_id, version.last, AT_ONCE):
            version.last = rows[-1][0]
            version.files += [row[:4] for row in rows]
            version.cells = np.concatenate([version.cells, _array([row[4] for row in rows])])
            version.files = version.files[-MOST_FILES:]
            version.cells = version.cells[-MOST_FILES:]
            if len(rows) < AT_ONCE:
                break
        return version


def _array(cells: Sequence[bytes]) -> Cells:
    return np.frombuffer(b"".join(cells), dtype="<f4").reshape(len(cells), -1)
