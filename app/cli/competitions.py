"""`podium competitions`: list and show imported competitions."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.archive import add_archive_commands
from app.cli.context import current_entry, podium
from app.cli.lazy import Group
from app.cli.options import AsJson
from app.cli.output import out, print_json, visible
from app.cli.tables import print_table
from app.domain.states import ArchivalKind

app = typer.Typer(
    cls=Group, help="List, show and archive imported competitions.", no_args_is_help=True
)
add_archive_commands(app, ArchivalKind.COMPETITION)
Slugs = Annotated[list[str] | None, typer.Argument(help="competitions; none: all")]
Slug = Annotated[str, typer.Argument(help="the competition")]


@app.command("list")
def list_competitions(
    suite: Annotated[str, typer.Option(help="only competitions of this suite")] = "",
    archived: Annotated[bool, typer.Option("--archived", help="also archived ones")] = False,
    as_json: AsJson = False,
) -> None:
    """List the imported competitions."""
    from app.services.competitions import queries

    with podium() as context:
        slugs = context.catalogue.suite(suite) if suite else None
        found = queries.current_versions(context, slugs, archived=archived)
        entries = queries.listed(context, found)
    if as_json:
        print_json(
            [{"slug": e.version.slug, "version": e.version.number, "title": e.competition.title,
              "metric": e.competition.metric.name, "rows": e.version.rows,
              "status": e.version.status.value, "flags": [f.code for f in e.competition.flags]}
             for e in entries]
        )  # fmt: skip
        return
    print_table(
        ("slug", "version", "metric", "rows", "status", "flags"),
        [
            (e.version.slug, e.version.number, e.competition.metric.name, e.version.rows,
             e.version.status.value, ", ".join(f.code for f in e.competition.flags))
            for e in entries
        ],
        "no competitions",
    )  # fmt: skip


@app.command()
def show(slug: Slug, as_json: AsJson = False) -> None:
    """Show one competition: its declaration, its files, its human leaderboard."""
    with podium() as context:
        entry = current_entry(context, slug)
        files = list(context.catalogue.public_files.of(entry.version.id))
    version, board = entry.version, entry.leaderboard
    document = {
        "slug": slug,
        "version": version.number,
        "content_hash": version.content_hash,
        "status": version.status.value,
        "rows": version.rows,
        "files": files,
        "declared": entry.competition.model_dump(mode="json", exclude={"slug"}),
        "medal_lines": asdict(board.lines) if board else None,
        "teams": board.teams if board else None,
    }
    if as_json:
        print_json(document)
        return
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes texts in which `visible` writes escapes: YAML knows these in quotes only."""

        def represent_str(self, data: str) -> yaml.ScalarNode:
            style = None if visible(data) == data else '"'
            return self.represent_scalar("tag:yaml.org,2002:str", data, style)

    Dumper.add_representer(str, Dumper.represent_str)
    text = yaml.dump(json.loads(json.dumps(document, default=str)), Dumper=Dumper,
                     sort_keys=False, allow_unicode=True, width=10_000)  # fmt: skip
    sys.stdout.write(visible(text))


@app.command()
def lint(slug: Slug, as_json: AsJson = False) -> None:
    """Show the lint of a competition's human leaderboard."""
    with podium() as context:
        entry = current_entry(context, slug)
    if as_json:
        print_json(entry.version.lint)
        return
    for finding in entry.version.lint:
        out.print(f"{finding['severity']}: {finding['code']}: {finding['message']}", markup=False)
    if not entry.version.lint:
        out.print("the lint found nothing in this leaderboard")
