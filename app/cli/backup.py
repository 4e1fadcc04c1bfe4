"""`podium backup` and `podium restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, out, print_json, step_progress
from app.services.operations.backup import back_up
from app.services.operations.backup_format import Manifest, verified
from app.services.operations.restore import restore as restore_from
from app.settings import Settings

Folder = Annotated[Path, typer.Argument(help="the backup's folder")]


def backup(folder: Folder, as_json: AsJson = False) -> None:
    """Write all that this Podium keeps into a new folder, while it runs.

    Rows as of one moment and every stored file, whichever database and store there are. The folder
    holds private answers: keep it as safe as the data itself.
    """
    settings = Settings()
    with step_progress() as tell:
        manifest = back_up(settings, folder.absolute(), tell)
    _say(f"backed up into {folder}", manifest, as_json)


def restore(
    folder: Folder,
    only_check: Annotated[
        bool, typer.Option("--check", help="verify the backup, and restore nothing")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring a backup back into an empty Podium, on either database and store.

    Everything is verified before anything is written. What was being graded when the backup was
    made is queued again.
    """
    settings = Settings()
    with step_progress() as tell:
        if only_check:
            manifest = verified(folder.absolute(), tell)
        else:
            manifest = restore_from(settings, folder.absolute(), tell)
    _say(f"{folder} is whole" if only_check else f"restored {folder}", manifest, as_json)


def _say(what: str, manifest: Manifest, as_json: bool) -> None:
    rows = {table.name: table.file.rows for table in manifest.tables}
    if as_json:
        print_json(
            {
                "podium": manifest.podium,
                "schema": manifest.schema,
                "made_at": manifest.made_at,
                "database": manifest.database,
                "rows": rows,
                "files": manifest.blobs.rows,
                "bytes": manifest.blob_bytes,
            }
        )
        return
    out.print(
        f"{what}: of {manifest.made_at}, {rows.get('submission', 0)} submissions, "
        f"{rows.get('grade', 0)} grades, {manifest.rows()} rows in all, {manifest.blobs.rows} "
        f"files of {manifest.blob_bytes} bytes",
        markup=False, highlight=False, soft_wrap=True,
    )  # fmt: skip
