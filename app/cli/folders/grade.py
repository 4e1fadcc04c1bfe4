"""`podium grade`: grade one file without a server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import err, print_json, working
from app.domain.competition import Competition
from app.domain.verdict import problem_document
from app.errors import GradingFault
from app.graders.environment import environment
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.grading_version import grading_version
from app.read_settings import read_settings
from app.services.competitions.folders import competition_folder
from app.services.grading.grade_folder import grade_with_folder, local_graders
from app.settings import Settings

REJECTED = 3
HELP = "the name of a competition, or the path of its folder"


def grade(
    competition: Annotated[str, typer.Argument(help=HELP)],
    file: Annotated[Path, typer.Argument(help="the submission", exists=True, dir_okay=False)],
) -> None:
    """Grade FILE for a competition; print JSON; exit 0 graded, 3 rejected, 1 failed.

    A name is that of an imported competition or else of a folder: in the competitions directory,
    among those that come with Podium, or in the current directory. A folder needs no import.
    """
    settings = read_settings()
    version = None
    imported = None if "/" in competition else _imported(settings, competition, file)
    if imported is None:
        folder = competition_folder(settings.competitions_dir, competition)
        with working("grading"):
            declared, outcome = grade_with_folder(settings, folder, file)
    else:
        version, declared, outcome = imported
    _print(version, declared, outcome)


def _imported(
    settings: Settings, slug: str, file: Path
) -> tuple[int, Competition, GradingResult] | None:
    """Grade for the imported competition; None if none of this name is imported."""
    if not settings.has_database:
        return None
    with local_graders(settings) as graders:  # one starts while this process loads SQLAlchemy
        # Grading with a folder does not need it.
        from app.cli.folders.grade_imported import grade_imported

        return grade_imported(graders, slug, file)


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
