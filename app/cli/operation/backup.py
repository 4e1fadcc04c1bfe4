"""`podium backup` and `podium restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import AsJson
from app.cli.output import out, print_json
from app.domain.wording import counted

if TYPE_CHECKING:
    from app.services.operations.backup_format import BackupManifest

Folder = Annotated[Path, typer.Argument(help="the backup's folder")]


def backup(
    folder: Folder,
    signing_keys: Annotated[
        bool,
        typer.Option(
            "--signing-keys",
            help="also the private keys of receipts; without them, the restored Podium makes a "
            "new one",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write all rows and files of this Podium into a new folder, while it runs.

    The rows are as of one moment, from any database and store. The folder contains private
    answers: protect it like the data.
    """
    from app.cli.progress import step_progress
    from app.read_settings import read_settings
    from app.services.operations.backup import back_up

    settings = read_settings()
    with step_progress() as progress:
        manifest = back_up(settings, folder.absolute(), progress, signing_keys=signing_keys)
    _print_summary(f"backed up into {folder}", manifest, as_json)


def restore(
    folder: Folder,
    only_check: Annotated[
        bool, typer.Option("--check", help="verify the backup, and restore nothing")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty Podium, on either database and store.

    All files are verified before the first write. Submissions that were being graded when the
    backup was made are queued again.
    """
    from app.cli.progress import step_progress
    from app.read_settings import read_settings
    from app.services.operations.backup_format import verified
    from app.services.operations.restore import restore as restore_from

    settings = read_settings()
    with step_progress() as progress:
        if only_check:
            manifest = verified(folder.absolute(), progress)
        else:
            manifest = restore_from(settings, folder.absolute(), progress)
    done = f"restored {folder} into {settings.data_dir.absolute()}"
    _print_summary(f"{folder} is complete" if only_check else done, manifest, as_json)


def _print_summary(what: str, manifest: BackupManifest, as_json: bool) -> None:
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
        f"{what}: of {manifest.made_at}, {counted(rows.get('submission', 0), 'submission')}, "
        f"{counted(rows.get('grade', 0), 'grade')}, {counted(manifest.rows(), 'row')} in all, "
        f"{counted(manifest.blobs.rows, 'file')} of {counted(manifest.blob_bytes, 'byte')}",
        markup=False, highlight=False, soft_wrap=True,
    )  # fmt: skip
