"""A pool that takes folders as tests make them, `<slug>/<version>`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from app.domain.verdict import Verdict
from app.graders.messages.results import (
    CompetitionCheck,
    GraderFault,
    GradingResult,
    Rejected,
)
from app.graders.pool import GraderPool
from app.graders.version_folder import VersionFolder
from app.resampling.uncertainty import Uncertainty


def version_at(folder: Path) -> VersionFolder:
    """The version in a folder whose parent is named by the slug."""
    return VersionFolder(folder.parent.name, folder)


class FolderPool(GraderPool):
    """Graders, asked with the folder of a version alone."""

    def grade(  # type: ignore[override]
        self,
        version: Path,
        file: Path,
        sha256: str = "",
        begun: Callable[[], None] = lambda: None,
    ) -> Future[GradingResult]:
        return super().grade(version_at(version), file, sha256, begun)

    def uncertainty(  # type: ignore[override]
        self, version: Path, file: Path, sha256: str = ""
    ) -> Future[Uncertainty | Rejected | GraderFault]:
        return super().uncertainty(version_at(version), file, sha256)

    def check_competition(  # type: ignore[override]
        self, version: Path
    ) -> Future[CompetitionCheck | GraderFault]:
        return super().check_competition(version_at(version))

    def validate(  # type: ignore[override]
        self, version: Path, file: Path
    ) -> Future[Verdict | GraderFault]:
        return super().validate(version_at(version), file)
