"""The schema's revision: which one a database has, and which ones this Podium knows.

Nothing here loads Alembic, which takes 0.2 s: most processes start on a database that has the
newest revision already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, column, inspect, select, table

import app
from app.bundled import bundled
from app.errors import UnknownSchema
from app.storage.database.database import Database
from app.storage.database.engine import make_engine
from app.storage.database.urls import database_url

REVISIONS = table("alembic_version", column("version_num"))  # Alembic's own names
OF_EVERY_REVISION = "submission"  # the first migration made this table, and none removed it


def known_revisions() -> list[str]:
    """The revisions from the first to the newest. A migration's file is named `REVISION_words.py`.

    Raises:
        FileNotFoundError: the migrations are not installed.
    """
    files = (migrations_directory() / "versions").glob("*.py")
    return sorted(file.name.partition("_")[0] for file in files)


def newest_revision() -> str:
    """The revision that this Podium works with.

    Raises:
        FileNotFoundError: the migrations are not installed.
    """
    return known_revisions()[-1]


def current_revision(connection: Connection) -> str | None:
    """The revision of a database. None if nothing has ever migrated it.

    Raises:
        UnknownSchema: it has tables of Podium's, and not one row that names their revision.
    """
    tables = inspect(connection)
    has_revisions = tables.has_table(REVISIONS.name)
    found = sorted(connection.scalars(select(REVISIONS.c.version_num))) if has_revisions else []
    if len(found) == 1:
        return str(found[0])
    if not found and not tables.has_table(OF_EVERY_REVISION):
        return None
    if found:
        has = f"{len(found)} rows ({', '.join(map(str, found))})"
    else:
        has = "no row" if has_revisions else "been removed"
    raise UnknownSchema(
        f"Somebody changed the database: its table {REVISIONS.name} has {has}, where one row names "
        f"the schema of the other tables. If Podium {app.__version__} ran here last, let "
        f"{newest_revision()} be the only row; otherwise restore a backup from before "
        "(`podium restore`) into a new PODIUM_DATA_DIR."
    )


def state(database: Database) -> Literal["current", "older", "newer"]:
    """Compare the database's schema with this Podium. A newer one has an unknown revision.

    Raises:
        Unavailable: the database does not answer.
    """
    with database.read() as session:
        current = current_revision(session.connection())
    if current == newest_revision():
        return "current"
    return "older" if current is None or current in known_revisions() else "newer"


def is_upgraded(url: str) -> bool:
    """Whether a database exists and has the newest revision. Nothing is created or changed.

    Raises:
        DBAPIError: the database does not answer.
        BadDatabaseUrl: the URL names no database that Podium can use.
    """
    parsed = database_url(url)
    if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").is_file():
        return False
    engine = make_engine(url, connections=1, writes=False)
    try:
        with engine.connect() as connection:
            return current_revision(connection) == newest_revision()
    finally:
        engine.dispose()


def migrations_directory() -> Path:
    """The directory of the migrations.

    Raises:
        FileNotFoundError: it does not exist.
    """
    directory = bundled("migrations")
    if not (directory / "env.py").is_file():
        raise FileNotFoundError(
            f"there are no migrations in {directory}: this installation of Podium is not "
            "complete; install it again from its wheel or its repository"
        )
    return directory
