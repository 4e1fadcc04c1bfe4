"""`podium db`: migrate and check the database's schema."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from app.cli.lazy import Group
from app.cli.options import AsJson
from app.cli.output import err, print_json, print_line

app = typer.Typer(cls=Group, help="Migrate and check the database.", no_args_is_help=True)


@app.command()
def upgrade(as_json: AsJson = False) -> None:
    """Migrate the database's schema to this version of Podium."""
    from app.read_settings import make_data_directory, read_settings
    from app.services.runtime.context import require_postgres_of_queue
    from app.storage.database.revisions import newest_revision
    from app.storage.database.wait_for_database import (
        upgrade_when_reachable,
        wait_until_reachable,
    )

    settings = read_settings()
    require_postgres_of_queue(settings)
    wait_until_reachable(settings.database_url, 0)
    make_data_directory(settings.data_dir)
    upgrade_when_reachable(settings.database_url, 0)
    if as_json:
        print_json({"revision": newest_revision()})
    else:
        print_line("the schema is up to date")


@app.command(context_settings={"ignore_unknown_options": True})  # -1 is no option
def downgrade(
    revision: Annotated[str, typer.Argument(help="a revision, -1 for one back, base for none")],
    as_json: AsJson = False,
) -> None:
    """Migrate the schema back. Data that the older schema cannot store is lost: back up first."""
    from app.cli.context import require_podium
    from app.read_settings import read_settings
    from app.storage.database import migrations

    settings = read_settings()
    require_podium(settings)
    reached = migrations.downgrade(settings.database_url, revision)
    if as_json:
        print_json({"revision": reached})
    else:
        print_line(f"the schema is at {reached or 'base'}")


@app.command()
def check(as_json: AsJson = False) -> None:
    """Compare models and migrations: upgrade an empty database and look for differences."""
    from app.settings import sqlite_url
    from app.storage.database import migrations
    from app.storage.database.database import Database

    with tempfile.TemporaryDirectory() as directory:
        url = sqlite_url(Path(directory) / "check.db")
        migrations.upgrade(url)
        database = Database(url)
        try:
            differences = migrations.differences(database)
        finally:
            database.close()
    if as_json:
        print_json({"differences": [str(one) for one in differences]})
    for difference in differences:
        err.print(str(difference), markup=False)
    if differences:
        err.print("the models and the migrations differ: write a migration")
        raise typer.Exit(1)
    if not as_json:
        print_line("models and migrations agree")
