"""The database's schema: run the migrations, and compare the tables with the models."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import URL, Connection, text

import app
from app.errors import BadDatabaseUrl, Conflict, Invalid, SchemaTooNew
from app.storage.database.database import Database
from app.storage.database.engine import make_engine
from app.storage.database.foreign_keys import broken_reference
from app.storage.database.models import Base
from app.storage.database.revisions import (
    current_revision,
    known_revisions,
    migrations_directory,
    newest_revision,
)

ENCODINGS = ("UTF8", "SQL_ASCII")  # SQL_ASCII stores any bytes, and so those that Podium sends
LOCK = 0x706F6469756D  # "podium": an advisory lock, so that processes migrate one after another


class BrokenReferences(Conflict):
    """The database has rows that refer to rows which are not there."""


def upgrade(database_url: str, revision: str = "head") -> None:
    """Bring the database to a revision, all migrations in one transaction.

    Raises:
        FileNotFoundError: the migrations are not installed.
        BadDatabaseUrl: the database has an encoding in which texts cannot be stored.
        SchemaTooNew: a newer Podium migrated the database.
        BrokenReferences: somebody deleted rows to which others refer.
        CommandError: the revision is unknown.
    """
    with migrating(database_url) as config:
        _refuse_newer(config.attributes["connection"])
        command.upgrade(config, revision)


def downgrade(database_url: str, revision: str) -> str | None:
    """Bring the database back to an earlier revision ("base": to nothing); data may be lost.

    Returns the revision that it has then.

    Raises:
        FileNotFoundError, SchemaTooNew: as `upgrade`.
        Invalid: there is no such earlier revision.
    """
    with migrating(database_url) as config:
        _refuse_newer(config.attributes["connection"])
        try:
            if not revision.strip("@"):  # Alembic only asserts that there is a name
                raise CommandError("it names none")
            command.downgrade(config, revision)
        except CommandError as error:
            known = known_revisions()
            raise Invalid(
                f"The schema cannot be taken back to {revision!r}: {error}. Name an earlier "
                f"revision ({known[0]} to {known[-2]}), -1 for one back, or base for none. Nothing "
                "was changed."
            ) from None
        return current_revision(config.attributes["connection"])


def fill(
    database_url: str,
    revision: str,
    load: Callable[[Connection], None],
    finish: Callable[[Connection], None],
) -> None:
    """Create the schema of `revision`, `load` rows, upgrade to the newest revision, and `finish`.

    This is one transaction: if anything fails, nothing is changed. The caller ensures that the
    database has no rows: tables of another revision are removed.

    Raises:
        FileNotFoundError, CommandError: as `upgrade`.
    """
    with migrating(database_url) as config:
        connection: Connection = config.attributes["connection"]
        if current_revision(connection) not in (None, revision):
            command.downgrade(config, "base")
        command.upgrade(config, revision)
        load(connection)
        command.upgrade(config, "head")
        finish(connection)


def is_ours(name: str | None, kind: str, _: object) -> bool:
    """Whether the models describe a table. The queue's tables belong to its library."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


def differences(database: Database) -> list[Any]:
    """The differences between the migrated database and the models, as Alembic's operations."""
    with database.read() as session:
        context = MigrationContext.configure(
            session.connection(),
            opts={"compare_type": True, "compare_server_default": True, "include_name": is_ours},
        )
        return list(compare_metadata(context, Base.metadata))


def alembic_config() -> Config:
    """Alembic's configuration: where the migrations are."""
    config = Config()
    # Escape "%", because configuration values are interpolated.
    config.set_main_option("script_location", str(migrations_directory()).replace("%", "%%"))
    return config


def _refuse_newer(connection: Connection) -> None:
    current = current_revision(connection)
    if current is not None and current not in known_revisions():
        newest = newest_revision()
        raise SchemaTooNew(
            f"the database has the schema {current}, and Podium {app.__version__} knows "
            f"{newest} and older ones. Run the Podium that migrated it, or go back with that one "
            f"(this one cannot): podium db downgrade {newest}"
        )


@contextmanager
def migrating(database_url: str) -> Iterator[Config]:
    """A configuration whose connection commits at the end, if no reference is broken then."""
    config = alembic_config()
    # Alembic changes a SQLite table by copying it, which enforced foreign keys would prevent.
    engine = make_engine(database_url, connections=1, writes=True, foreign_keys=False)
    try:
        with _exclusive(engine.url), engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                # Wait without limit for another process's migration. But do not wait long for a
                # table in use, because all later queries of that table would have to wait, too.
                for name in ("lock_timeout", "statement_timeout"):
                    connection.execute(text(f"SET {name} = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
                connection.execute(text("SET lock_timeout = '5s'"))
                _refuse_encoding(connection)
            config.attributes["connection"] = connection
            _refuse_broken_references(connection)
            yield config
            _check_foreign_keys(connection)
    finally:
        engine.dispose()


def _refuse_encoding(connection: Connection) -> None:
    """Refuse a database that could not store every name and note."""
    encoding = str(connection.execute(text("SHOW server_encoding")).scalar_one())
    if encoding not in ENCODINGS:
        raise BadDatabaseUrl(
            f"the database {connection.engine.url.database!r} has the encoding {encoding}, in "
            "which most texts cannot be stored. Make one in UTF-8, and name that one: createdb "
            "--template=template0 --encoding=UTF8 podium"
        )


def _refuse_broken_references(connection: Connection) -> None:
    """Refuse references that are broken already, which would look like the migration's fault."""
    broken = broken_reference(connection)
    if broken:
        raise BrokenReferences(
            f"Somebody changed the database: {broken}. Its schema was left as it is. Put the row "
            "back that is missing, or delete those that refer to it; or restore a backup from "
            "before (`podium restore`) into a new PODIUM_DATA_DIR."
        )


@contextmanager
def _exclusive(url: URL) -> Iterator[None]:
    """Prevent other processes from migrating the same SQLite file meanwhile.

    SQLite waits only a few seconds for its own lock, and not at all while the first connections
    of a new file switch it to WAL. The kernel releases this lock if the process dies.
    """
    if url.get_backend_name() != "sqlite" or url.database is None:
        yield
        return
    directory = Path(url.database).absolute().parent
    if not directory.is_dir():
        raise BadDatabaseUrl(
            f"its directory {directory} is not there: make it, or correct the path. One that "
            "begins at the root has four slashes (sqlite:////path/podium.db)"
        )
    with _open_lock(Path(f"{url.database}.migrating")) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _open_lock(path: Path) -> BinaryIO:
    try:
        file = path.open("ab")
    except PermissionError:  # another user's, such as root's: it need not be written
        return path.open("rb")
    with contextlib.suppress(PermissionError):  # another user made it
        os.fchmod(file.fileno(), 0o644)  # whatever this user's umask is
    return file


def _check_foreign_keys(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    broken = connection.execute(text("PRAGMA foreign_key_check")).fetchmany(5)
    if broken:
        tables = ", ".join(sorted({row[0] for row in broken}))
        raise RuntimeError(f"the migration was undone: it would break foreign keys of {tables}")
