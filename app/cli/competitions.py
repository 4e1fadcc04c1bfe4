"""`podium competitions` and `podium check`: look at what is there, and whether it is in order."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import track
from rich.table import Table

from app.cli.output import AsJson, err, out, podium, print_json
from app.domain.states import CompetitionStatus
from app.errors import NotFound
from app.graders.pool import GraderPool
from app.services.competitions import check_competition
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.settings import Settings
from app.storage.queries import competitions

app = typer.Typer(no_args_is_help=True)
Slugs = Annotated[list[str] | None, typer.Argument(help="competitions; none: all")]
Slug = Annotated[str, typer.Argument(help="the competition")]


@app.command("list")
def list_competitions(
    suite: Annotated[str, typer.Option(help="only this suite's")] = "", as_json: AsJson = False
) -> None:
    """List the imported competitions."""
    with podium(graders=1) as context:
        slugs = context.catalogue.suite(suite) if suite else None
        with context.database.read() as session:
            found = competitions.list_current(session, slugs=slugs, limit=10_000)
        entries = [context.catalogue.entry(version) for version in found]
    if as_json:
        print_json(
            [{"slug": e.version.slug, "version": e.version.number, "title": e.competition.title,
              "metric": e.competition.metric.name, "rows": e.version.rows,
              "status": e.version.status.value, "flags": [f.code for f in e.competition.flags]}
             for e in entries]
        )  # fmt: skip
        return
    table = Table("slug", "version", "metric", "rows", "status", "flags")
    for e in entries:
        table.add_row(
            e.version.slug, str(e.version.number), e.competition.metric.name,
            f"{e.version.rows:,}" if e.version.rows else "", e.version.status.value,
            ", ".join(f.code for f in e.competition.flags),
        )  # fmt: skip
    out.print(table)


@app.command()
def show(slug: Slug, as_json: AsJson = False) -> None:
    """Show one competition: its declaration, its files, its human board."""
    with podium(graders=1) as context:
        entry = _entry(context, slug)
    version, board = entry.version, entry.leaderboard
    document = {
        "slug": slug,
        "version": version.number,
        "content_hash": version.content_hash,
        "status": version.status.value,
        "rows": version.rows,
        "files": version.files,
        "declared": entry.competition.model_dump(mode="json", exclude={"slug"}),
        "medal_lines": asdict(board.lines) if board else None,
        "teams": board.teams if board else None,
    }
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        out.print(f"[bold]{name}[/bold]", value)


@app.command()
def lint(slug: Slug, as_json: AsJson = False) -> None:
    """Show what is odd about a competition's human leaderboard."""
    with podium(graders=1) as context:
        entry = _entry(context, slug)
    if as_json:
        print_json(entry.version.lint)
        return
    for finding in entry.version.lint:
        out.print(f"{finding['severity']}: {finding['code']}: {finding['message']}", markup=False)
    if not entry.version.lint:
        out.print("nothing is odd about this leaderboard")


def check(slugs: Slugs = None, as_json: AsJson = False) -> None:
    """Check competition folders: each loads; where data is present, answers score perfectly."""
    settings = Settings()
    root = settings.competitions_dir
    folders = check_competition.folders_in(root, slugs or [])
    graders = GraderPool(
        processes=1,
        seconds=settings.grading_seconds,
        memory_mb=settings.grader_memory_mb,
        cache_mb=settings.answers_cache_mb,
    )
    try:
        found = [
            check_competition.check_folder(graders, folder)
            for folder in track(
                folders, "checking", console=err, transient=True, disable=not err.is_terminal
            )
        ]
    finally:
        graders.close()
    suites = (
        check_competition.check_suites(root, {folder.name for folder in folders})
        if not slugs
        else ()
    )
    if as_json:
        print_json({"competitions": [asdict(one) for one in found], "suites": suites})
    else:
        for one in found:
            _tell(one)
        for problem in suites:
            err.print(f"{problem['file']}: {problem['key']}: {problem['message']}", markup=False)
    wrong = sum(bool(one.problems) for one in found) + bool(suites)
    if wrong:
        raise typer.Exit(1)
    if not as_json:
        out.print(f"{len(found)} competition folders are in order")


def _tell(one: check_competition.FolderCheck) -> None:
    if not one.problems:
        is_ready = one.status is CompetitionStatus.READY
        rows = f"{one.rows:,} rows" if one.rows else "measured" if is_ready else "needs data"
        out.print(f"{one.slug}: ok, {rows}", highlight=False)
    for problem in one.problems:
        place = ": ".join(part for part in (problem["file"], problem["key"]) if part)
        err.print(f"{one.slug}: {place}: {problem['message']}", markup=False, highlight=False)
    for finding in one.lint:
        err.print(f"{one.slug}: {finding.severity}: {finding.message}", markup=False)


def _entry(context: Context, slug: str) -> CatalogueEntry:
    with context.database.read() as session:
        version = competitions.current_version(session, slug)
    if version is None:
        raise NotFound(f"There is no competition {slug!r}; see `podium competitions list`.")
    return context.catalogue.entry(version)
