"""Check competition folders, and print what was found."""

from __future__ import annotations

from dataclasses import asdict

import typer
from rich.progress import track

from app.cli.output import err, out, print_json
from app.domain.states import CompetitionStatus
from app.graders.walls.isolation import WALLS, Isolation
from app.read_settings import read_settings
from app.services.competitions import check_competition
from app.services.competitions.folders import competition_folder, folders_in
from app.services.grading.grade_folder import local_graders

NO_ANSWERS = "needs data: it has no answers yet, so no run can be made"


def check_folders(names: list[str], *, as_json: bool) -> None:
    """Check the named folders, or all, and print what was found.

    Raises:
        typer.Exit: one of them has mistakes.
    """
    settings = read_settings()
    root = settings.competitions_dir
    folders = [competition_folder(root, name) for name in names]
    folders = folders or folders_in(root, [])
    graders = local_graders(settings)
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
            _print_result(one, in_full=bool(names))
        for problem in suites:
            _print_problem(problem)
        _print_walls(isolation)
    wrong = sum(bool(one.problems) for one in found) + bool(suites)
    if wrong:
        raise typer.Exit(1)
    if not as_json:
        single = "1 competition folder is in order"
        out.print(single if len(found) == 1 else f"{len(found)} competition folders are in order")


def _print_walls(isolation: Isolation) -> None:
    """List the walls around a metric.py, and why others are missing."""
    missing = isolation.missing()
    present = [name for name in WALLS if name not in missing]
    out.print(f"walls around a metric.py: {', '.join(present) or 'none'}", highlight=False)
    for name in missing:
        why = "; ".join(isolation.reasons(name))
        err.print(f"missing wall: {why or name}", markup=False, highlight=False)


def _print_result(one: check_competition.FolderCheck, *, in_full: bool) -> None:
    if not one.problems:
        is_ready = one.status is CompetitionStatus.READY
        without = "measured" if is_ready else NO_ANSWERS
        rows = _counted(one.rows, "row") if one.rows else without
        out.print(f"{one.slug}: ok, {rows}", highlight=False)
        if in_full and one.understood is not None:
            _print_understood(one.understood)
    for problem in one.problems:
        _print_problem(problem, one.slug)
    for finding in one.lint:
        err.print(f"{one.slug}: {finding.severity}: {finding.message}", markup=False)


def _print_problem(problem: dict[str, str], slug: str = "") -> None:
    parts = (slug, problem["file"], problem["key"], problem["message"])
    err.print(": ".join(part for part in parts if part), markup=False, highlight=False)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _print_understood(found: check_competition.Understood) -> None:
    """Print direction, rows, medal lines and the sample's score: an admin knows the intention."""
    direction = "higher" if found.higher_is_better else "lower"
    lines = [f"metric: {found.metric}, {direction} is better"]
    if found.usage:
        counts = [f"{found.usage[name]:,} {name}" for name in sorted(found.usage)]
        lines.append(f"rows of the answers: {', '.join(counts)}")
    elif found.sample_score is not None:
        lines.append("rows of the answers: all decide the score (there is no column Usage)")
    if found.sample_score is not None:
        lines.append(f"the sample submission scores {found.sample_score:.6g}")
    if found.lines:
        shown = [f"{name} {line:.6g}" for name, line in found.lines.items() if line is not None]
        teams = "teams not known" if found.teams is None else _counted(found.teams, "team")
        lines.append(f"human leaderboard: {teams}; {', '.join(shown) or 'no medal lines'}")
    else:
        lines.append("human leaderboard: none, so nobody wins a medal")
    for line in lines:
        out.print(f"  {line}", markup=False, highlight=False)
