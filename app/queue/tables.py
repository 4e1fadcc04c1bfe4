"""Install, upgrade and remove Procrastinate's tables and functions; called by migrations.

Their SQL is read from the installed library when a migration runs. The comment of the library's
main table records its last applied migration. A new database gets all of the library's migrations
at once; `bring_up_to_date` applies the missing ones to an older database.
"""

from __future__ import annotations

from pathlib import Path

from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, text

MAIN_TABLE = "procrastinate_jobs"
# The last of Procrastinate's migrations that this Podium knows. If a newer Procrastinate has more,
# add a Podium migration that calls `bring_up_to_date`, then change this.
KNOWN = "03.04.00_50_post_add_retry_failed_job_procedure.sql"
REMOVE = """
DO $$
DECLARE found record;
BEGIN
    FOR found IN SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relkind = 'r' AND c.relname LIKE 'procrastinate\\_%'
        AND c.relnamespace = current_schema()::regnamespace
    LOOP EXECUTE 'DROP TABLE ' || found.name || ' CASCADE'; END LOOP;
    FOR found IN SELECT p.oid::regprocedure AS name FROM pg_proc p
        WHERE p.proname LIKE 'procrastinate\\_%'
        AND p.pronamespace = current_schema()::regnamespace
    LOOP EXECUTE 'DROP FUNCTION ' || found.name || ' CASCADE'; END LOOP;
    FOR found IN SELECT t.oid::regtype AS name FROM pg_type t
        WHERE t.typname LIKE 'procrastinate\\_%' AND t.typtype IN ('e', 'c')
        AND t.typnamespace = current_schema()::regnamespace
    LOOP EXECUTE 'DROP TYPE ' || found.name || ' CASCADE'; END LOOP;
END $$
"""


def install(connection: Connection) -> None:
    """Create the tables and functions of the installed Procrastinate. PostgreSQL only."""
    _run(connection, SchemaManager.get_schema())
    _record_revision(connection, shipped()[-1])


def bring_up_to_date(connection: Connection) -> list[str]:
    """Run the library's migrations that are not applied yet. Returns their names."""
    current = connection.execute(
        text("SELECT obj_description(CAST(:name AS regclass))"), {"name": MAIN_TABLE}
    ).scalar_one()
    pending = [name for name in shipped() if name > str(current)]
    for name in pending:
        _run(connection, (_directory() / name).read_text("utf-8"))
        _record_revision(connection, name)
    return pending


def remove(connection: Connection) -> None:
    """Remove the tables and functions, with all jobs. Open submissions can be queued again."""
    _run(connection, REMOVE)


def shipped() -> list[str]:
    """The names of all migrations that come with the installed Procrastinate, in their order."""
    return sorted(path.name for path in _directory().glob("*.sql"))


def _directory() -> Path:
    return Path(SchemaManager.get_migrations_path())


def _record_revision(connection: Connection, name: str) -> None:
    # COMMENT accepts no parameters. The name is safe: it is a file of an installed package.
    _run(connection, f"COMMENT ON TABLE {MAIN_TABLE} IS '{name}'")


def _run(connection: Connection, statements: str) -> None:
    # Only the driver runs several statements in one call, and only without parameters.
    driver = connection.connection.driver_connection
    if driver is None:
        raise RuntimeError("the connection was closed")
    driver.execute(statements)
