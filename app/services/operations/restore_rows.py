"""Store the rows of a backup that is being restored: all of them, in one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, StatementError

from app.errors import Conflict
from app.services.operations.backup_format import (
    BLOB_LIST,
    UNREADABLE,
    BackupManifest,
    BadBackup,
    Progress,
    TableFile,
    table_file,
)
from app.settings import Settings
from app.storage.database import dump, migrations
from app.storage.database.database import Database
from app.storage.database.foreign_keys import (
    ForeignKey,
    first_broken,
    foreign_keys,
    refused_row,
)
from app.storage.database.jsonl import load_rows, read_batches, read_lines
from app.storage.database.revisions import current_revision, known_revisions
from app.storage.database.urls import database_url, sqlite_file
from app.storage.queries.operation import secrets


class NotEmpty(Conflict):
    """A backup can be restored only into an empty Podium."""


def require_empty_database(settings: Settings) -> None:
    """Check that the database has no rows, or that there is none yet.

    Raises:
        NotEmpty: it has rows, or a newer Podium made it.
        Unavailable: the database is away.
    """
    file = sqlite_file(settings.database_url)
    if file is not None and not file.exists():
        return  # opening the database would create the file
    database = Database(settings.database_url)
    try:
        with database.read() as session:
            _require_empty(session.connection(), settings)
    finally:
        database.close()


def _require_empty(connection: Connection, settings: Settings) -> None:
    url = database_url(settings.database_url).render_as_string(hide_password=True)
    filled = dump.tables_with_rows(connection)
    if filled:
        raise NotEmpty(
            f"The database {url} has rows already, in {', '.join(filled)}. Name an empty one by "
            "PODIUM_DATABASE_URL, or a new PODIUM_DATA_DIR: nothing is overwritten. (A server that "
            "has started once has made rows.)"
        )
    found = current_revision(connection)
    if found and found not in known_revisions():
        raise NotEmpty(
            f"The database {url} was made by a newer Podium (schema {found}): restore with that "
            "version, or name a new database."
        )


def store_rows(
    settings: Settings, folder: Path, manifest: BackupManifest, progress: Progress
) -> None:
    """Store the rows of the backup in `folder` in an empty database; queue what was being graded.

    Raises:
        BadBackup: its rows are not those that were backed up; none was stored.
        NotEmpty: the database has rows; none was stored.
        Unavailable: the database is away; none was stored.
    """

    def load(connection: Connection) -> None:
        _require_empty(connection, settings)  # checked again, in the transaction that writes
        _require_tables(connection, folder, manifest)
        keys = foreign_keys(connection)  # asked now: PostgreSQL answers nothing after an error
        for table in manifest.tables:
            _load(connection, folder, table, manifest.rows(), progress, keys)
        # PostgreSQL refused such a row already; SQLite does not look while a schema is migrated.
        broken = first_broken(connection, keys) if connection.dialect.name == "sqlite" else None
        if broken:
            raise _refers_to_nothing(folder, broken)

    def finish(connection: Connection) -> None:
        _require_files(connection, folder)
        dump.requeue_unfinished(connection)
        dump.reset_sequences(connection)
        # The files may be in another store now, which may belong to another database, and logins
        # may have been ended since the backup. The next server makes new secrets.
        connection.execute(secrets.FORGET)

    migrations.fill(settings.database_url, manifest.schema, load, finish)


def _require_tables(connection: Connection, folder: Path, manifest: BackupManifest) -> None:
    # The database has the schema of the backup now, and every version of Podium backs up all of its
    # tables except the same three.
    expected = dump.columns_of_tables(connection)
    found = {table.name: set(table.columns) for table in manifest.tables}
    if found != expected:
        names = sorted(
            name for name in {**expected, **found} if expected.get(name) != found.get(name)
        )
        raise BadBackup(
            f"The backup in {folder} was changed: its tables or columns are not those of schema "
            f"{manifest.schema}, in {', '.join(names)}. No row was restored."
        )


def _require_files(connection: Connection, folder: Path) -> None:
    """Check that the backup had each file that a row names. Both are sorted by digest."""
    listed = read_lines(folder / BLOB_LIST)
    there: list[Any] | None = next(listed, None)
    for sha256, size in dump.referenced_files(connection):
        while there is not None and there[0] < sha256:
            there = next(listed, None)
        if there != [sha256, size]:
            raise BadBackup(
                f"The backup in {folder} was changed: a row names the file {sha256} of {size} "
                "bytes, which is not in the backup. No row was restored: use another copy of it, "
                "or another backup."
            )


def _load(
    connection: Connection,
    folder: Path,
    table: TableFile,
    total: int,
    progress: Progress,
    keys: list[ForeignKey],
) -> None:
    rows = read_batches(table_file(folder, table.name))
    loaded = 0
    try:
        for count in load_rows(connection, table.name, table.columns, rows):
            progress("storing rows", count, total)
            loaded += count
    except OperationalError:  # the database is away or full
        raise
    except (*UNREADABLE, StatementError) as error:
        again = (
            dict(zip(table.columns, row, strict=False))
            for row in read_lines(table_file(folder, table.name))
        )
        broken = refused_row(error, keys, again)
        if broken:
            raise _refers_to_nothing(folder, broken) from None
        raise BadBackup(
            f"The backup in {folder} was changed: rows of {table.name} do not fit that table "
            f"({type(error).__name__}). No row was restored."
        ) from None
    if loaded != table.file.rows:
        raise BadBackup(
            f"The backup in {folder} was changed: {table.name} has {loaded} rows, and its manifest "
            f"says {table.file.rows}. No row was restored."
        )


def _refers_to_nothing(folder: Path, broken: str) -> BadBackup:
    return BadBackup(
        f"The backup in {folder} was changed: {broken}. No row was restored: use another copy of "
        "it, or another backup."
    )
