"""Grade one file without a server, and print its grade."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from app.cli.context import podium
from app.cli.output import err, print_json
from app.cli.progress import working
from app.domain.competition import Competition
from app.domain.states import CompetitionStatus
from app.domain.verdict import problem_document
from app.errors import GradingFault, NeedsData, NotFound
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.graders.template import GraderTemplate
from app.grading_version import environment, grading_version
from app.read_settings import read_settings
from app.services.competitions.folders import competition_folder
from app.services.grading.grade_folder import grade_with_folder, local_graders
from app.settings import Settings

REJECTED = 3


def print_grade(template: GraderTemplate, competition: str, file: Path) -> None:
    """Grade the file for the imported competition of this name, or else with a folder; print it."""
    settings = read_settings()
    version = None
    is_path = "/" in competition
    imported = None if is_path else _imported(settings, template, competition, file)
    if imported is None:
        folder = _folder(settings, competition)
        with working("grading"):
            declared, outcome = grade_with_folder(settings, folder, file, template)
    else:
        version, declared, outcome = imported
    _print(version, declared, outcome)


def _folder(settings: Settings, competition: str) -> Path:
    try:
        return competition_folder(settings.competitions_dir, competition)
    except NotFound as error:
        advice = "" if "/" in competition else " Or import it: podium import folder PATH"
        raise NotFound(error.detail + advice) from None


def _imported(
    settings: Settings, template: GraderTemplate, slug: str, file: Path
) -> tuple[int, Competition, GradingResult] | None:
    """Grade for the current version, and return its number. None if the name is not imported.

    Raises:
        NeedsData: it was imported without its answers.
        TakesNoSubmissions: its results are measured.
    """
    if not settings.has_database:
        return None
    # These load SQLAlchemy, which grading with a folder does not need.
    from app.graders.version_folder import VersionFolder
    from app.services.competitions import queries
    from app.services.runtime.run_limits import refuse_measured

    with local_graders(settings, template) as graders, podium(doing="grading") as context:
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


def _print(version: int | None, competition: Competition, outcome: GradingResult) -> None:
    if isinstance(outcome, GraderFault):
        raise GradingFault(f"{outcome.kind} {outcome.place}".strip())
    if isinstance(outcome, Rejected):
        print_json({"state": "rejected", "problem": problem_document(outcome.verdict)})
        err.print("rejected", style="red")
        raise typer.Exit(REJECTED)
    judged = competition.against_baseline(outcome.score)
    print_json(
        {
            "state": "graded",
            "competition": competition.slug,
            "competition_version": version,  # None: graded with a folder
            **(asdict(outcome.standing) if outcome.standing else {}),
            "score": outcome.score,
            "improvement": judged.improvement if judged else None,
            "success": judged.success if judged else None,
            "public_score": outcome.public_score,
            "search_score": outcome.search_score,
            "warnings": [warning.as_dict() for warning in outcome.warnings],
            "flags": [flag.model_dump() for flag in competition.flags],
            "grader": {
                "metric": competition.metric.name,
                "podium_version": grading_version(),
                "environment": environment(),
            },
        }
    )
