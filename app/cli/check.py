"""`podium check`: whether competition folders are in order."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import track

from app.cli.output import AsJson, err, out, print_json
from app.domain.states import CompetitionStatus
from app.graders.pool import GraderPool
from app.graders.walls.isolation import WALLS, Isolation
from app.services.competitions import check_competition
from app.services.competitions.folders import competition_folder
from app.settings import Settings

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|PATH]...",
        help="names of competitions, or paths of folders; default: the competitions directory",
    ),
]


def check(names: Names = None, as_json: AsJson = False) -> None:
    """Check competition folders: they load, and answers that they have score perfectly.

    A name is the name of a folder in the competitions directory, of a folder that comes with
    Podium, or of a folder in the current directory.
    """
    settings = Settings()
    root = settings.competitions_dir
    folders = [competition_folder(root, name) for name in names or []]
    folders = folders or check_competition.folders_in(root, [])
    graders = GraderPool(
        processes=1,
        seconds=settings.grading_seconds,
        memory_mb=settings.grader_memory_mb,
        cache_mb=settings.answers_cache_mb,
        validates=False,
        requires_isolation=settings.require_isolation,
    )
    try:
        graders.warm_up()
        found = [
            check_competition.check_folder(graders, folder)
            for folder in track(
                folders, "checking", console=err, transient=True, disable=not err.is_terminal
            )
        ]
        isolation = graders.isolation()
    finally:
        graders.close()
    suites = (
        check_competition.check_suites(root, {folder.name for folder in folders})
        if not names
        else ()
    )
    if as_json:
        print_json(
            {
                "competitions": [asdict(one) for one in found],
                "suites": suites,
                "isolation": asdict(isolation),
            }
        )
    else:
        for one in found:
            _print_result(one)
        for problem in suites:
            err.print(f"{problem['file']}: {problem['key']}: {problem['message']}", markup=False)
        _print_walls(isolation)
    wrong = sum(bool(one.problems) for one in found) + bool(suites)
    if wrong:
        raise typer.Exit(1)
    if not as_json:
        out.print(f"{len(found)} competition folders are in order")


def _print_walls(isolation: Isolation) -> None:
    """List the walls around a metric.py, and why others are missing."""
    missing = isolation.missing()
    present = [name for name in WALLS if name not in missing]
    out.print(f"walls around a metric.py: {', '.join(present) or 'none'}", highlight=False)
    for name in missing:
        why = "; ".join(note for note in isolation.notes if note.startswith(f"{name}:"))
        err.print(f"missing wall: {why or name}", markup=False, highlight=False)


def _print_result(one: check_competition.FolderCheck) -> None:
    if not one.problems:
        is_ready = one.status is CompetitionStatus.READY
        rows = f"{one.rows:,} rows" if one.rows else "measured" if is_ready else "needs data"
        out.print(f"{one.slug}: ok, {rows}", highlight=False)
    for problem in one.problems:
        place = ": ".join(part for part in (problem["file"], problem["key"]) if part)
        err.print(f"{one.slug}: {place}: {problem['message']}", markup=False, highlight=False)
    for finding in one.lint:
        err.print(f"{one.slug}: {finding.severity}: {finding.message}", markup=False)
