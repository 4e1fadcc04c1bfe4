"""A mark in the data directory while a backup is restored into it, so that nothing else starts.

Without the mark, a server that starts after a killed restore would begin a new Podium, with the
restored files and no row. A server that starts during a restore would write rows, and the restore
would fail.
"""

from __future__ import annotations

from pathlib import Path

from app.errors import Conflict
from app.settings import Settings
from app.sync_directory import sync_directory

MARK = "restoring"  # in the data directory; it has the path of the backup


class UnfinishedRestore(Conflict):
    """A backup is being restored into this data directory, or was not restored to its end."""


def begin_restore(settings: Settings, folder: Path) -> None:
    """Note that a backup is restored here."""
    (settings.data_dir / MARK).write_text(f"{folder}\n", errors="replace")
    sync_directory(settings.data_dir)


def end_restore(settings: Settings) -> None:
    """Note that it was restored, or that nothing was written."""
    (settings.data_dir / MARK).unlink(missing_ok=True)


def refuse_unfinished_restore(settings: Settings) -> None:
    """Check that no restore is running or was interrupted here. Call before anything writes a row.

    Raises:
        UnfinishedRestore: the files of a backup may be here, and its rows are not.
        Unavailable: the database is away.
    """
    mark = settings.data_dir / MARK
    if not mark.exists():
        return
    # Imported here, because it loads Alembic, and each process that opens the database calls this.
    from app.services.operations.restore_rows import NotEmpty, require_empty_database

    try:
        require_empty_database(settings)
    except NotEmpty:
        mark.unlink(missing_ok=True)  # the restore was killed after its last row and before its end
        return
    folder = mark.read_text(errors="replace").strip()
    raise UnfinishedRestore(
        f"The restore of {folder or 'a backup'} into the data directory {settings.data_dir} has "
        "not ended: wait for it, or if it was interrupted run `podium restore` again. To begin a "
        f"new Podium without the backup, remove the file {mark}."
    )
