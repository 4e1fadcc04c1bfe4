"""Grading with the answers of an imported competition."""

from __future__ import annotations

from pathlib import Path

from app.cli.context import podium
from app.domain.competition import Competition
from app.domain.states import CompetitionStatus
from app.errors import NeedsData
from app.graders.messages.results import GradingResult
from app.graders.pool import GraderPool
from app.graders.version_folder import VersionFolder
from app.services.competitions import queries
from app.services.runtime.run_limits import refuse_measured


def grade_imported(
    graders: GraderPool, slug: str, file: Path
) -> tuple[int, Competition, GradingResult] | None:
    """Grade for the current version, and return its number. None if none of this name is imported.

    Raises:
        NeedsData: it was imported without its answers.
        TakesNoSubmissions: its results are measured.
    """
    with podium(doing="grading") as context:
        entry = queries.current(context, slug)
        if entry is None:
            return None
        version, competition = entry.version, entry.competition
        refuse_measured(competition)
        if version.status is not CompetitionStatus.READY:
            raise NeedsData(
                f"{slug} cannot be graded yet: its data has not been imported. To grade with a "
                "folder that has its data, give the path of that folder."
            )
        with context.catalogue.files.lease(version, answers=True) as lease:
            folder = VersionFolder(version.slug, lease.path)
            outcome = graders.grade(folder, file.resolve()).result()
    return version.number, competition, outcome
