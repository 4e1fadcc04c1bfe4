"""Procrastinate's own tables and functions: made, brought up to date and removed by migrations.

They belong to the library, so their text is the library's, taken when a migration runs. What has
been applied stands in the comment of its main table: a database made today by a later Podium may
have more than one that was made earlier and migrated, and `bring_up_to_date` does what is left.
"""

from __future__ import annotations

from pathlib import Path

from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, text

MAIN_TABLE = "procrastinate_jobs"
# The last file of Procrastinate's migrations that this Podium knows. When a newer Procrastinate
# brings more, add a Podium migration that calls `bring_up_to_date`, then change this.
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
    """Make them, as the installed Procrastinate has them now. PostgreSQL only."""
    _run(connection, SchemaManager.get_schema())
    _note(connection, shipped()[-1])


def bring_up_to_date(connection: Connection) -> list[str]:
    """Run those of the library's migrations that came after what is there; says which."""
    done = connection.execute(
        text("SELECT obj_description(CAST(:name AS regclass))"), {"name": MAIN_TABLE}
    ).scalar_one()
    left = [name for name in shipped() if name > str(done)]
    for name in left:
        _run(connection, (_directory() / name).read_text("utf-8"))
        _note(connection, name)
    return left


def remove(connection: Connection) -> None:
    """Remove them, with the jobs in them. Submissions that wait are queued anew afterwards."""
    _run(connection, REMOVE)


def shipped() -> list[str]:
    """The names of all migrations that come with the installed Procrastinate, in their order."""
    return sorted(path.name for path in _directory().glob("*.sql"))


def _directory() -> Path:
    return Path(SchemaManager.get_migrations_path())


def _note(connection: Connection, name: str) -> None:
    # COMMENT takes no parameters; the name is a file's in an installed package.
    _run(connection, f"COMMENT ON TABLE {MAIN_TABLE} IS '{name}'")


def _run(connection: Connection, statements: str) -> None:
    # Many statements at once: only the driver takes them, and only without parameters.
    driver = connection.connection.driver_connection
    if driver is None:
        raise RuntimeError("the connection was closed")
    driver.execute(statements)
