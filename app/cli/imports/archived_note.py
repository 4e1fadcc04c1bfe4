"""Say that an imported thing is archived, so that no list and no result shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.output import print_note
from app.domain.states import ArchivalKind

if TYPE_CHECKING:
    from app.services.runtime.context import Context


def note_archived(context: Context, kind: ArchivalKind, name: str) -> None:
    """Say so on standard error, in addition to the output of the import."""
    from app.services.runtime.archival import archived

    found = archived(context, kind, [name]).get(name)
    if found is None:
        return
    print_note(
        f"The {kind.value} {name} is archived ({found.reason}): lists and results leave it out, "
        f"and no run can be made in it, until `podium {kind.value}s restore {name} --reason ...`."
    )
