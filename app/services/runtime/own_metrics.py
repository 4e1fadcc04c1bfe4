"""Which competition versions have a metric.py of their own: asked once, since none changes."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from app.domain.competition import METRIC_FILE
from app.storage.queries import version_files


class OwnMetrics:
    """What this process knows of versions. Callable from any thread."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def among(self, session: Session, versions: Collection[int]) -> set[int]:
        """Those of these versions that have a metric.py."""
        known = self._known
        new = [version for version in versions if version not in known]
        if new:
            found = version_files.versions_with(session, METRIC_FILE, new)
            known |= {version: version in found for version in new}
        return {version for version in versions if known[version]}

    def known_to_have(self, version: int) -> bool:
        """Whether the version has a metric.py, as far as `among` was asked about it."""
        return self._known.get(version, False)

    def forget(self) -> None:
        """Forget all: a standby that took over may give the number of a lost version again."""
        self._known = {}
