"""The schema's revision: which one a database has, and which ones this Podium knows.

Nothing here loads Alembic, which takes 0.2 s: most processes start on a database that has the
newest revision already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, column, inspect, select, table

from app.bundled import bundled
from app.storage.database.database import Database
from app.storage.database.engine import database_url, make_engine

REVISIONS = table("alembic_version", column("version_num"))  # Alembic's own names


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
    """The revision of a database. None if nothing has ever migrated it."""
    if not inspect(connection).has_table(REVISIONS.name):
        return None
    found: str | None = connection.scalar(select(REVISIONS.c.version_num))
    return found


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
