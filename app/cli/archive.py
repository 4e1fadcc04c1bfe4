"""`archive` and `restore` of the groups `competitions`, `experiments` and `runs`."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.options import Key, Url
from app.cli.output import print_line
from app.cli.remote import path_to, remote
from app.domain.states import ArchivalKind

Name = Annotated[str, typer.Argument(help="its slug, name or id")]
NAMES = {ArchivalKind.COMPETITION: "slug", ArchivalKind.EXPERIMENT: "name"}
Reason = Annotated[str, typer.Option(help="why, for later readers")]


def add_archive_commands(app: typer.Typer, kind: ArchivalKind) -> None:
    """Add the two commands to a group."""
    a_kind = {"experiment": "an experiment"}.get(kind.value, f"a {kind.value}")
    whose = "its keys" if kind is ArchivalKind.RUN else "the keys of its runs"

    @app.command(
        "archive",
        help=f"Hide {a_kind} from lists, boards and rates, and refuse {whose}. Nothing is deleted.",
    )
    def archive(name: Name, reason: Reason, url: Url = "", key: Key = "") -> None:
        print_line(f"archived {_change('archive', kind, name, reason, url, key)}")

    @app.command("restore", help=f"Restore {a_kind} that was archived.")
    def restore(name: Name, reason: Reason, url: Url = "", key: Key = "") -> None:
        print_line(f"restored {_change('restore', kind, name, reason, url, key)}")


def _change(verb: str, kind: ArchivalKind, name: str, reason: str, url: str, key: str) -> str:
    """Archive or restore something. Returns its name, over HTTP the name in the answer."""
    if there := remote(url, key):
        with there:
            changed = there.post(path_to(f"{kind.value}s", name, verb), {"reason": reason})
        return str(changed[NAMES.get(kind, "id")])
    from app.services.experiments import archiving

    change = archiving.archive if verb == "archive" else archiving.restore
    with podium() as context:
        change(context, kind, name, reason, by=None)
    return name
