"""The context of a command: the database and files of a Podium, open while the command runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.errors import NotFound

if TYPE_CHECKING:
    from app.services.runtime.catalogue import CatalogueEntry
    from app.services.runtime.context import Context
    from app.settings import Settings

ALL = 10**9  # rows of a list: no limit
ONLY_HERE = " PODIUM_URL is set, but this command works on a data directory only."


@contextlib.contextmanager
def podium(*, creates: bool = False, grades: bool = False, doing: str = "") -> Iterator[Context]:
    """Open the Podium that the settings name, migrate its database, and close it afterwards.

    `creates` makes a new one if there is none. Without `grades` a grader starts only when there is
    a file to grade or a competition to check; with it, as many start as in a server that grades. In
    a terminal, `doing` is shown with the elapsed time.

    Raises:
        NotFound: there is no Podium, and `creates` is false.
        UnfinishedRestore: a backup is being restored there, or was not restored to its end.
        OtherStore: the command stores or grades files, and those of the servers are elsewhere.
    """
    # Imported here, because a command imports this module even to show its options.
    from app.cli.output import err
    from app.read_settings import make_data_directory, read_settings
    from app.services.operations.start_checks import refuse_other_store
    from app.services.operations.unfinished_restore import refuse_unfinished_restore
    from app.services.runtime.context import (
        continue_ids,
        open_context,
        require_postgres_of_queue,
    )
    from app.storage.database.wait_for_database import (
        upgrade_when_reachable,
        wait_until_reachable,
    )

    settings = read_settings(reads_competitions=not creates)
    # Perhaps a wrong directory: a server elsewhere has none of the files that are stored here.
    is_new_here = not settings.has_database and "data_dir" not in settings.model_fields_set
    if creates:
        require_postgres_of_queue(settings)
    else:
        require_podium(settings)
    wait_until_reachable(settings.database_url, 0)
    make_data_directory(settings.data_dir)
    upgrade_when_reachable(settings.database_url, 0)
    if is_new_here:
        err.print(
            f"There was no Podium in {settings.data_dir}: this command makes a new one there "
            "(PODIUM_DATA_DIR is not set).",
            markup=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
    refuse_unfinished_restore(settings)
    if creates or grades:  # it stores files, or needs them
        refuse_other_store(settings, claims=False)
    context = open_context(settings, grades=None if grades else False, validates=False)
    try:
        continue_ids(context.database)
        with _shown(doing):
            yield context
    finally:
        context.close()


@contextlib.contextmanager
def _shown(doing: str) -> Iterator[None]:
    if not doing:
        yield
        return
    from app.cli.progress import working

    with working(doing):
        yield


def require_podium(settings: Settings) -> None:
    """Check that there is a database. For a database server, the connection shows that.

    Raises:
        NotFound: the SQLite file that the settings name does not exist.
        QueueNeedsPostgres: it is no database of a queue: that of an earlier Podium, perhaps.
    """
    from app.services.runtime.context import require_postgres_of_queue

    if not settings.has_database:
        raise NotFound(
            f"There is no Podium in the data directory {settings.data_dir} (PODIUM_DATA_DIR): it "
            "has no database. Go to the directory where Podium serves, or set PODIUM_DATA_DIR; "
            "`podium serve` and `podium import` make a new one."
            + (ONLY_HERE if os.environ.get("PODIUM_URL") else "")
        )
    require_postgres_of_queue(settings)


def current_entry(context: Context, slug: str) -> CatalogueEntry:
    """The current version of a competition.

    Raises:
        NotFound: it is not imported.
    """
    from app.services.competitions import queries

    entry = queries.current(context, slug)
    if entry is None:
        raise NotFound(f"There is no competition {slug!r}; see `podium competitions list`.")
    return entry
