"""`podium grade`: one file, here and now, without a server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import err, podium, print_json
from app.domain.states import CompetitionStatus
from app.domain.verdict import problem_document
from app.errors import GradingFault, NeedsData, NotFound
from app.graders.outcomes import Fault, Refused
from app.grading_version import grading_version
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.runtime.environment import environment
from app.services.runtime.run_limits import refuse_measured
from app.storage.queries import competitions

REJECTED = 3


def grade(
    slug: Annotated[str, typer.Argument(help="the competition")],
    file: Annotated[Path, typer.Argument(help="the submission", exists=True, dir_okay=False)],
) -> None:
    """Grade FILE for the competition SLUG; prints JSON; exit 0 graded, 3 rejected, 1 our fault."""
    with podium(graders=1) as context:
        entry = _ready_entry(context, slug)
        with context.catalogue.files.lease(entry.version, answers=True) as lease:
            outcome = context.graders.grade(lease.path, file.resolve()).result()
    if isinstance(outcome, Fault):
        raise GradingFault(f"{outcome.kind} {outcome.place}".strip())
    if isinstance(outcome, Refused):
        print_json({"state": "rejected", "problem": problem_document(outcome.verdict)})
        err.print("rejected", style="red")
        raise typer.Exit(REJECTED)
    judged = entry.competition.against_baseline(outcome.score)
    print_json(
        {
            "state": "graded",
            "competition": slug,
            "competition_version": entry.version.number,
            **(asdict(outcome.standing) if outcome.standing else {}),
            "score": outcome.score,
            "improvement": judged.improvement if judged else None,
            "success": judged.success if judged else None,
            "public_score": outcome.public_score,
            "warnings": [warning.as_dict() for warning in outcome.warnings],
            "flags": [flag.model_dump() for flag in entry.competition.flags],
            "grader": {
                "metric": entry.competition.metric.name,
                "podium_version": grading_version(),
                "environment": environment(),
            },
        }
    )


def _ready_entry(context: Context, slug: str) -> CatalogueEntry:
    with context.database.read() as session:
        version = competitions.current_version(session, slug)
    if version is None:
        raise NotFound(f"There is no competition {slug!r}; import it: podium import folder PATH")
    if version.status is not CompetitionStatus.READY:
        raise NeedsData(f"{slug} cannot be graded yet: its data has not been imported.")
    entry = context.catalogue.entry(version)
    refuse_measured(entry.competition)
    return entry
