"""The database's schema: brought up to date by the migrations, and compared with the models."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, text

import app
from app.bundled import bundled
from app.errors import SchemaTooNew
from app.storage.database.database import Database
from app.storage.database.engine import make_engine
from app.storage.database.models import Base

LOCK = 0x706F6469756D  # "podium": so that two processes that start at once migrate one by one


def upgrade(database_url: str, revision: str = "head") -> None:
    """Bring the database to a revision, all migrations in one transaction.

    Raises:
        FileNotFoundError: the migrations are not installed.
        SchemaTooNew: a newer Podium migrated the database.
        CommandError: the revision is unknown.
    """
    with _migrating(database_url) as config:
        _refuse_newer(config)
        command.upgrade(config, revision)


def downgrade(database_url: str, revision: str) -> None:
    """Bring the database back to an earlier revision ("base": to nothing); data may be lost.

    Raises:
        FileNotFoundError, CommandError: as `upgrade`.
    """
    with _migrating(database_url) as config:
        command.downgrade(config, revision)


def fill(
    database_url: str,
    revision: str,
    load: Callable[[Connection], None],
    finish: Callable[[Connection], None],
) -> None:
    """Make the schema as it was at `revision`, `load` rows, bring all up to date, and `finish`.

    One transaction: if anything fails, nothing has happened. The caller sees to it that there are
    no rows: tables of another revision are removed.

    Raises:
        FileNotFoundError, CommandError: as `upgrade`.
    """
    with _migrating(database_url) as config:
        connection: Connection = config.attributes["connection"]
        there = MigrationContext.configure(connection).get_current_revision()
        if there not in (None, revision):
            command.downgrade(config, "base")
        command.upgrade(config, revision)
        load(connection)
        command.upgrade(config, "head")
        finish(connection)


def known_revisions() -> set[str]:
    """The revision this Podium works with, and those it can upgrade from."""
    script = ScriptDirectory.from_config(_config())
    return {revision.revision for revision in script.walk_revisions()}


def head() -> str:
    """The revision this Podium works with."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def is_current(database: Database) -> bool:
    """Whether the database has had all migrations of this Podium, and no others."""
    known = set(ScriptDirectory.from_config(_config()).get_heads())
    with database.read() as session:
        return set(MigrationContext.configure(session.connection()).get_current_heads()) == known


def state(database: Database) -> Literal["current", "older", "newer"]:
    """How the database's schema stands to this Podium; newer: it has a migration unknown here.

    Raises:
        Unavailable: the database does not answer.
    """
    script = ScriptDirectory.from_config(_config())
    with database.read() as session:
        there = set(MigrationContext.configure(session.connection()).get_current_heads())
    if there == set(script.get_heads()):
        return "current"
    return "older" if there <= known_revisions() else "newer"


def is_ours(name: str | None, kind: str, _: object) -> bool:
    """Whether a table is for the models to describe: the queue's are its library's."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


def differences(database: Database) -> list[Any]:
    """How the migrated database differs from the models, as Alembic's operations; empty: not."""
    with database.read() as session:
        context = MigrationContext.configure(
            session.connection(),
            opts={"compare_type": True, "compare_server_default": True, "include_name": is_ours},
        )
        return list(compare_metadata(context, Base.metadata))


def migrations_directory() -> Path:
    """Where the migrations are.

    Raises:
        FileNotFoundError: they are not there.
    """
    directory = bundled("migrations")
    if not (directory / "env.py").is_file():
        raise FileNotFoundError(
            f"there are no migrations in {directory}: this installation of Podium is not "
            "complete; install it again from its wheel or its repository"
        )
    return directory


def _config() -> Config:
    config = Config()
    # Configuration values know %(interpolation)s.
    config.set_main_option("script_location", str(migrations_directory()).replace("%", "%%"))
    return config


def _refuse_newer(config: Config) -> None:
    script = ScriptDirectory.from_config(config)
    there = MigrationContext.configure(config.attributes["connection"]).get_current_heads()
    known = {revision.revision for revision in script.walk_revisions()}
    if unknown := sorted(set(there) - known):
        raise SchemaTooNew(
            f"the database has the schema {', '.join(unknown)}, and Podium {app.__version__} knows "
            f"{script.get_current_head()} and older ones. Run the Podium that migrated it, or let "
            f"that one take the schema back: podium db downgrade {script.get_current_head()}"
        )


@contextmanager
def _migrating(database_url: str) -> Iterator[Config]:
    config = _config()
    # SQLite changes a table by copying it; foreign keys, enforced, would stand in the way.
    engine = make_engine(database_url, connections=1, writes=True, foreign_keys=False)
    try:
        with _alone(engine.url), engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                # However long others migrate, and however long this takes. But a table in use is
                # not waited for without end: all who come later would wait behind us.
                for name in ("lock_timeout", "statement_timeout"):
                    connection.execute(text(f"SET {name} = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
                connection.execute(text("SET lock_timeout = '5s'"))
            config.attributes["connection"] = connection
            yield config
            _check_foreign_keys(connection)
    finally:
        engine.dispose()


@contextmanager
def _alone(url: URL) -> Iterator[None]:
    """Keep other processes' migrations of one SQLite file away, for as long as this one takes.

    SQLite's own lock is waited for a few seconds only, and not at all by the first connections of
    a new file, which turn it to WAL. The kernel takes this lock back from a process that dies.
    """
    if url.get_backend_name() != "sqlite" or url.database is None:
        yield
        return
    with Path(f"{url.database}.migrating").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_foreign_keys(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    broken = connection.execute(text("PRAGMA foreign_key_check")).fetchmany(5)
    if broken:
        tables = ", ".join(sorted({row[0] for row in broken}))
        raise RuntimeError(f"the migration was undone: it would break foreign keys of {tables}")
