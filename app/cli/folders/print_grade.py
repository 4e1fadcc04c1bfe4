"""Grade one file without a server, and print its grade."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from app.cli.output import err, print_json, working
from app.domain.competition import Competition
from app.domain.verdict import problem_document
from app.errors import GradingFault
from app.graders.environment import environment
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.graders.template import GraderTemplate
from app.grading_version import grading_version
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
        folder = competition_folder(settings.competitions_dir, competition)
        with working("grading"):
            declared, outcome = grade_with_folder(settings, folder, file, template)
    else:
        version, declared, outcome = imported
    _print(version, declared, outcome)


def _imported(
    settings: Settings, template: GraderTemplate, slug: str, file: Path
) -> tuple[int, Competition, GradingResult] | None:
    """Grade for the imported competition; None if none of this name is imported."""
    if not settings.has_database:
        return None
    with local_graders(settings, template) as graders:
        # It loads SQLAlchemy, which grading with a folder does not need.
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
