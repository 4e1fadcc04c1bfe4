"""Grade a file against a competition folder, without an import, a database or a server."""

from __future__ import annotations

import tempfile
from pathlib import Path

from app.domain.competition import Competition
from app.domain.states import CompetitionStatus
from app.errors import NeedsData, TakesNoSubmissions
from app.graders.messages.results import GradingResult
from app.graders.pool import GraderPool
from app.graders.template import GraderTemplate
from app.graders.version_folder import VersionFolder
from app.importers.folder import stage_for_grading
from app.settings import Settings


def local_graders(settings: Settings, template: GraderTemplate | None = None) -> GraderPool:
    """One grader for a command of an admin who has the answers: it shows texts of exceptions."""
    return GraderPool(
        processes=1,
        seconds=settings.grading_seconds,
        memory_mb=settings.grader_memory_mb,
        cache_mb=settings.answers_cache_mb,
        validators=0,
        requires_isolation=settings.require_isolation,
        shows_texts=True,
        template=template,
    )


def grade_with_folder(
    settings: Settings, folder: Path, file: Path, template: GraderTemplate | None = None
) -> tuple[Competition, GradingResult]:
    """Grade `file` against the answers in `folder`. Returns the competition and the outcome.

    Raises:
        BadCompetition: the folder's files cannot be used; lists the problems found.
        NeedsData: the folder has no answers.
        TakesNoSubmissions: the competition's results are measured.
    """
    with (
        local_graders(settings, template) as graders,  # it starts while files are copied
        tempfile.TemporaryDirectory(prefix="podium-grade-") as scratch,
    ):
        staging = Path(scratch, "version")
        competition, status = stage_for_grading(folder, staging)
        if competition.is_measured:
            raise TakesNoSubmissions(
                f"{competition.slug} takes no submissions: its {competition.metric.name} is "
                "measured by a harness."
            )
        if status is not CompetitionStatus.READY:
            raise NeedsData(
                f"{folder} has no private/{competition.answers.file}, and without the answers "
                "nothing can be graded."
            )
        version = VersionFolder(competition.slug, staging)
        return competition, graders.grade(version, file.resolve()).result()
