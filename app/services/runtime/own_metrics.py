"""Which competition versions have a metric.py: looked up once, since versions never change."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from app.domain.competition import METRIC_FILE
from app.storage.queries import version_files


class OwnMetrics:
    """What this process knows about versions. Callable from any thread."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def among(self, session: Session, versions: Collection[int]) -> set[int]:
        """The versions among these that have a metric.py."""
        known = self._known
        new = [version for version in versions if version not in known]
        if new:
            found = version_files.versions_with(session, METRIC_FILE, new)
            known |= {version: version in found for version in new}
        return {version for version in versions if known[version]}

    def known_to_have(self, version: int) -> bool:
        """Whether `among` has found that the version has a metric.py."""
        return self._known.get(version, False)

    def forget(self) -> None:
        """Forget all, because a standby that took over may give the id of a lost version again."""
        self._known = {}
