"""At the start of a process, wait for the database and upgrade its schema."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text as sql

from app.errors import BadDatabaseUrl, StorageFull, Unavailable
from app.storage.database.engine import make_engine
from app.storage.database.errors import is_denied, is_outage
from app.storage.database.revisions import is_upgraded
from app.storage.database.urls import database_url, sqlite_file
from app.system_limits import is_disk_full

log = logging.getLogger("podium.storage")
CHECK_SECONDS = 1.0
UNREADABLE = sql(
    "SELECT min(relname) FROM pg_class WHERE relname = ANY(:tables) AND relkind = 'r'"
    " AND pg_table_is_visible(oid) AND NOT has_table_privilege(oid, 'SELECT')"
)
INDEX_BYTES = 64 * 1024  # of the files that SQLite makes next to a database: the smallest index


def wait_until_reachable(text: str, seconds: float) -> None:
    """Wait up to `seconds` for a database server. For a file of SQLite this does nothing.

    Call it before directories are made, so that a command that cannot begin makes none.

    Raises:
        Unavailable: the server did not answer in time; gives the reason.
        BadDatabaseUrl, UnknownSchema: waiting would not help.
    """
    if sqlite_file(text) is None:
        _when_reachable(text, seconds, is_upgraded)


def upgrade_when_reachable(text: str, seconds: float) -> None:
    """Upgrade the schema. Wait up to `seconds` for a database that does not answer yet.

    Raises:
        Unavailable: the database did not answer in time; gives the reason.
        StorageFull: SQLite finds no room for the files that it makes beside the database.
        BadDatabaseUrl, SchemaTooNew: waiting would not help.
    """
    _when_reachable(text, seconds, _upgrade)


def _upgrade(text: str) -> None:
    if not is_upgraded(text):
        # Imported here: it loads Alembic, which most starts do not need, since the schema is new.
        from app.storage.database import migrations

        migrations.upgrade(text)
    _refuse_foreign_tables(text)


def _when_reachable(text: str, seconds: float, act: Callable[[str], object]) -> None:
    place = database_url(text).render_as_string(hide_password=True)
    deadline = time.monotonic() + seconds
    is_logged = False
    while True:
        try:
            act(text)
            return
        except Exception as error:
            if not is_outage(error):
                raise
            file = sqlite_file(text)
            if file is not None and has_full_disk(file.parent):
                raise StorageFull(
                    f"The database {file} cannot be opened: its disk is full. Free space there, "
                    "and try again."
                ) from error
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            if is_denied(error):
                raise _denied(text, reason.partition(" LINE ")[0]) from error
            if time.monotonic() >= deadline:
                raise Unavailable(
                    f"The database {place} (PODIUM_DATABASE_URL) cannot be used: {reason}"
                ) from error
        if not is_logged:
            log.warning("waiting for the database", extra={"database": place, "why": reason})
            is_logged = True
        time.sleep(CHECK_SECONDS)


def _refuse_foreign_tables(text: str) -> None:
    """Refuse tables that this user may not read: an upgrade by another user made them."""
    if database_url(text).get_backend_name() != "postgresql":
        return
    # Imported here: it loads all tables, which a command does not need to show its options.
    from app.storage.database.models import Base

    engine = make_engine(text, connections=1, writes=False)
    try:
        with engine.connect() as connection:
            found = connection.scalar(UNREADABLE, {"tables": list(Base.metadata.tables)})
    finally:
        engine.dispose()
    if found is not None:
        raise _denied(text, f"permission denied for table {found}")


def _denied(text: str, reason: str) -> BadDatabaseUrl:
    url = database_url(text)
    user = url.username or "USER"
    return BadDatabaseUrl(
        f"its user may not use the database {url.database!r}: {reason}. Make the user its owner, "
        f"and the owner of the tables in it: ALTER DATABASE {url.database} OWNER TO {user}"
    )


def has_full_disk(directory: Path) -> bool:
    """Whether the disk is full, which SQLite reports as an I/O error, like a broken disk."""
    try:
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(bytes(INDEX_BYTES))
    except OSError as error:
        return is_disk_full(error)
    return False
