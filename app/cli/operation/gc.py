"""`podium gc`: remove files that no row of the database names."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.context import require_podium
from app.cli.options import AsJson
from app.cli.output import out, print_json
from app.domain.wording import counted, first_lines
from app.units import MEGABYTE

LISTED = 20


def gc(
    delete: Annotated[
        bool, typer.Option("--delete", help="remove them; without it they are only listed")
    ] = False,
    older_than: Annotated[
        float | None,
        typer.Option(
            min=1, metavar="HOURS", help="how old a file must be (default: PODIUM_GC_AGE_HOURS)"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List stored files that no row names; with --delete, remove them.

    Servers and agents may work meanwhile. A file that is being uploaded is newer than --older-than
    and stays. A server removes such files by itself every PODIUM_GC_HOURS.
    """
    from app.cli.progress import working
    from app.read_settings import read_settings
    from app.services.operations import collect_garbage
    from app.services.operations.unfinished_restore import refuse_unfinished_restore
    from app.storage.database.wait_for_database import upgrade_when_reachable

    settings = read_settings()
    require_podium(settings)
    upgrade_when_reachable(settings.database_url, 0)
    refuse_unfinished_restore(settings)
    age = settings.gc_age_hours if older_than is None else older_than
    with working("looking for files that no row names"):
        found = collect_garbage.unreferenced(settings, age_hours=age)
        if delete:
            found = collect_garbage.remove(settings, found, age_hours=age)
    size = sum(one.bytes for one in found)
    if as_json:
        files = [{"kind": one.kind, "path": one.path, "bytes": one.bytes} for one in found]
        print_json({"deleted": delete, "files": files, "bytes": size})
        return
    lines = [f"{one.kind} {one.path} {one.bytes} bytes" for one in found]
    for line in first_lines(lines, LISTED, "--json lists all"):
        out.print(line, markup=False, soft_wrap=True)
    what = "removed" if delete else "would be removed (--delete removes them)"
    out.print(f"{counted(len(found), 'file')} of {size / MEGABYTE:.1f} MB {what}", highlight=False)
